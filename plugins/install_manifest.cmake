# Writes the manifest of an installed plugin: that of the build with the digest of the installed library. Run by
# `cmake --install`. Variables: MUSTER_PLUGIN (the plugin's folder in the build), MUSTER_PLUGIN_ID.
set(folder lib/muster/plugins/${MUSTER_PLUGIN_ID})
set(installed $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${folder})
cmake_path(GET MUSTER_PLUGIN_ID FILENAME name)
file(SHA256 ${installed}/${name}.so sha256)
file(READ ${MUSTER_PLUGIN}/plugin.toml manifest)
string(REGEX REPLACE "sha256 = \"[0-9a-f]+\"" "sha256 = \"${sha256}\"" manifest "${manifest}")
# Renamed into place, because a host may watch the folder.
file(WRITE ${installed}/plugin.toml.new "${manifest}")
file(RENAME ${installed}/plugin.toml.new ${installed}/plugin.toml)
message(STATUS "Installing: ${installed}/plugin.toml")
list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${CMAKE_INSTALL_PREFIX}/${folder}/plugin.toml)

# Writes plugin.toml beside the library. The hash is of exactly these bytes; renamed into place last, so that a host that
# watches the folder never sees a manifest without its library.
file(SHA256 ${SO} sha256)
cmake_path(GET SO PARENT_PATH folder)
cmake_path(GET SO FILENAME file)
set(manifest "name = \"${NAME}\"\nkind = \"${KIND}\"\nversion = \"${VERSION}\"\nabi = 1\nfile = \"${file}\"\nsha256 = \"${sha256}\"\n")
if(ISOLATION)
  string(APPEND manifest "isolation = \"${ISOLATION}\"\n")
endif()
file(WRITE ${folder}/plugin.toml.new "${manifest}")
file(RENAME ${folder}/plugin.toml.new ${folder}/plugin.toml)

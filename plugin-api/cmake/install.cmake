# What `cmake --install <build> --component plugin-api` puts in place for authors of plugins.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/MusterPluginApi)
set(MUSTER_TEMPLATES ${CMAKE_INSTALL_DATADIR}/muster/plugin-template)

# The package has the version of the ABI: a plugin asks for the major version that it was written for.
file(STRINGS include/muster/abi.h abi_lines REGEX "^#define MUSTER_ABI_(MAJOR|MINOR) [0-9]+$")
string(REGEX REPLACE "[^0-9;]" "" abi_version "${abi_lines}")
list(JOIN abi_version "." abi_version)

configure_package_config_file(cmake/MusterPluginApiConfig.cmake.in MusterPluginApiConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS MUSTER_TEMPLATES)
write_basic_package_version_file(MusterPluginApiConfigVersion.cmake VERSION ${abi_version} COMPATIBILITY SameMajorVersion)

install(TARGETS muster_plugin_api muster_plugin_testing EXPORT MusterPluginApiTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT plugin-api)
install(EXPORT MusterPluginApiTargets NAMESPACE MusterPluginApi:: DESTINATION ${package_dir} COMPONENT plugin-api)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/MusterPluginApiConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/MusterPluginApiConfigVersion.cmake
  cmake/MusterAddPlugin.cmake cmake/muster_plugin.map cmake/write_manifest.cmake
  DESTINATION ${package_dir} COMPONENT plugin-api)
install(DIRECTORY include/muster DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT plugin-api)
install(DIRECTORY template/provider template/strategy DESTINATION ${MUSTER_TEMPLATES} COMPONENT plugin-api)

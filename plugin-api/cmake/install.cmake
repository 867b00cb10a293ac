# What `cmake --install <build> --component plugin-api` puts in place for authors of plugins.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/MusterPluginApi)
set(MUSTER_TEMPLATES ${CMAKE_INSTALL_DATADIR}/muster/plugin-template)

# The package has the version of the ABI: a plugin asks for the major version that it was written for.
file(STRINGS include/muster/abi.h abi_lines REGEX "^#define MUSTER_ABI_(MAJOR|MINOR) [0-9]+$")
string(REGEX REPLACE "[^0-9;]" "" abi_version "${abi_lines}")
list(JOIN abi_version "." abi_version)

# The build tree is laid out like an installation, so that a plugin can be built against either: its prefix is <build>.
set(built_package ${PROJECT_BINARY_DIR}/${package_dir})
configure_package_config_file(cmake/MusterPluginApiConfig.cmake.in ${built_package}/MusterPluginApiConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS MUSTER_TEMPLATES)
write_basic_package_version_file(${built_package}/MusterPluginApiConfigVersion.cmake VERSION ${abi_version} COMPATIBILITY SameMajorVersion)

install(TARGETS muster_plugin_api muster_plugin_testing EXPORT MusterPluginApiTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT plugin-api)
install(EXPORT MusterPluginApiTargets NAMESPACE MusterPluginApi:: DESTINATION ${package_dir} COMPONENT plugin-api)
install(FILES
  ${built_package}/MusterPluginApiConfig.cmake ${built_package}/MusterPluginApiConfigVersion.cmake
  cmake/MusterAddPlugin.cmake cmake/muster_plugin.map cmake/write_manifest.cmake
  DESTINATION ${package_dir} COMPONENT plugin-api)
export(EXPORT MusterPluginApiTargets NAMESPACE MusterPluginApi:: FILE ${built_package}/MusterPluginApiTargets.cmake)
file(COPY cmake/MusterAddPlugin.cmake cmake/muster_plugin.map cmake/write_manifest.cmake DESTINATION ${built_package})
file(COPY template/provider template/strategy DESTINATION ${PROJECT_BINARY_DIR}/${MUSTER_TEMPLATES})
install(DIRECTORY include/muster DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT plugin-api)
install(DIRECTORY template/provider template/strategy DESTINATION ${MUSTER_TEMPLATES} COMPONENT plugin-api)

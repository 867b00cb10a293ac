# muster_add_plugin(<name> KIND <provider|strategy> VERSION <x.y.z> SOURCES <...> [LINK <...>] [ISOLATION <word>]
#                   [OUTPUT_DIRECTORY <folder>])
#
# Makes <build>/plugins/<kind>/<name>/ (below MUSTER_PLUGIN_OUTPUT_ROOT if that is set, or the given folder) with <name>.so and its manifest plugin.toml: a folder that can
# be dropped into a host as it is. All that a plugin must get right is set here once. The target is called <kind>_<name>.
set(MUSTER_PLUGIN_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

function(muster_add_plugin name)
  cmake_parse_arguments(P "" "KIND;VERSION;ISOLATION;OUTPUT_DIRECTORY" "SOURCES;LINK" ${ARGN})
  if(NOT P_KIND MATCHES "^(provider|strategy)$")
    message(FATAL_ERROR "muster_add_plugin(${name}): KIND is \"${P_KIND}\"; it must be provider or strategy")
  endif()
  if(NOT P_VERSION)
    message(FATAL_ERROR "muster_add_plugin(${name}): VERSION is missing")
  endif()
  if(NOT P_SOURCES)
    message(FATAL_ERROR "muster_add_plugin(${name}): SOURCES is missing")
  endif()
  if(NOT MUSTER_PLUGIN_OUTPUT_ROOT)
    set(MUSTER_PLUGIN_OUTPUT_ROOT ${CMAKE_BINARY_DIR}/plugins)
  endif()
  if(NOT P_OUTPUT_DIRECTORY)
    set(P_OUTPUT_DIRECTORY ${MUSTER_PLUGIN_OUTPUT_ROOT}/${P_KIND}/${name})
  endif()
  set(target ${P_KIND}_${name})
  add_library(${target} MODULE ${P_SOURCES})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_definitions(${target} PRIVATE MUSTER_PLUGIN_NAME="${name}" MUSTER_PLUGIN_VERSION="${P_VERSION}")
  # Without this an inline static is a unique symbol and the library can never be unloaded.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_link_options(${target} PRIVATE
    -Wl,--as-needed                                                         # only the libraries that it uses
    -Wl,--exclude-libs,ALL                                                  # static libraries stay private
    -Wl,--version-script=${MUSTER_PLUGIN_CMAKE_DIR}/muster_plugin.map)      # one exported symbol
  if(NOT MUSTER_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)                      # no surprise at load time
  endif()
  target_link_libraries(${target} PRIVATE MusterPluginApi::plugin_api ${P_LINK})
  # Visibility is a property of the target: the CMAKE_* variables act only on targets created after them.
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} PREFIX "" SUFFIX ".so" NO_SONAME ON
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${MUSTER_PLUGIN_CMAKE_DIR}/muster_plugin.map
    LIBRARY_OUTPUT_DIRECTORY ${P_OUTPUT_DIRECTORY})
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DSO=$<TARGET_FILE:${target}> -DNAME=${name} -DKIND=${P_KIND} -DVERSION=${P_VERSION}
            -DISOLATION=${P_ISOLATION} -P ${MUSTER_PLUGIN_CMAKE_DIR}/write_manifest.cmake
    VERBATIM)
endfunction()

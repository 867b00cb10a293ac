# muster_embed_schemas(<namespace> <result> <patterns>...): the schemas are files that people can read; the program carries
# them inside. <result> is the source file that defines <namespace>::embedded_schemas() with all JSON files of schemas/ that fit
# one of the patterns.
function(muster_embed_schemas namespace result)
  set(MUSTER_EMBEDDED_NAMESPACE ${namespace})
  set(MUSTER_EMBEDDED_FOLDER schemas/)
  set(MUSTER_EMBEDDED_FILES "")
  list(TRANSFORM ARGN PREPEND schemas/)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/schemas ${ARGN})
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/schemas/${file})
    file(READ schemas/${file} text)
    string(REGEX REPLACE "\\.json$" "" name ${file})
    string(APPEND MUSTER_EMBEDDED_FILES "    {\"${name}\", R\"muster-embedded(${text})muster-embedded\"},\n")
  endforeach()
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embedded.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/embedded.cpp @ONLY)
  set(${result} ${CMAKE_CURRENT_BINARY_DIR}/embedded.cpp PARENT_SCOPE)
endfunction()

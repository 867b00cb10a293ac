# cmake -DBUILD=<build folder> -DSOURCE=<this folder> -DWORK=<folder of its own> -P install_test.cmake
# Installs the two packages to an empty place and builds a stranger's program against them.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD}/plugin-api --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD}/rules --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/consumer -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
if(NOT output MATCHES "^{\"x\":1} lc-[0-9a-f]+\n$" OR NOT output MATCHES "lc-....................\n$")
  message(FATAL_ERROR "the program printed ${output}")
endif()

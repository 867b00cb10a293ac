# Runs the programs and writes what they say of themselves into SHARE: man/man1, bash-completion/completions,
# zsh/vendor-completions, fish/vendor_completions.d.
function(run_into file)
  get_filename_component(folder ${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${ARGN} OUTPUT_FILE ${file} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed: ${code}")
  endif()
endfunction()

file(REMOVE_RECURSE ${SHARE}/man/man1)
execute_process(COMMAND ${MUSTER} man --folder ${SHARE}/man/man1 COMMAND_ERROR_IS_FATAL ANY)
foreach(program IN ITEMS ${MUSTERD} ${AGENT} ${RELAY})
  get_filename_component(name ${program} NAME)
  execute_process(COMMAND ${program} --help COMMAND ${MUSTER} man --program ${name} OUTPUT_FILE ${SHARE}/man/man1/${name}.1
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
run_into(${SHARE}/bash-completion/completions/muster ${MUSTER} completion bash)
run_into(${SHARE}/zsh/vendor-completions/_muster ${MUSTER} completion zsh)
run_into(${SHARE}/fish/vendor_completions.d/muster.fish ${MUSTER} completion fish)
file(TOUCH ${SHARE}/written)

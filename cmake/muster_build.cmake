# What every target of this project is compiled with. Linked PRIVATE as `muster_build`, so that nothing of it reaches
# plugin authors and other users of the installed libraries.
add_library(muster_build INTERFACE)
target_compile_options(muster_build INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast>)

set(MUSTER_SANITIZE "" CACHE STRING "Sanitizers, as the compiler's -fsanitize takes them: address,undefined or thread")
if(MUSTER_SANITIZE)
  add_compile_options(-fsanitize=${MUSTER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MUSTER_SANITIZE})
  if(MUSTER_SANITIZE MATCHES thread)
    add_compile_options(-Wno-tsan)
  endif()
endif()

find_program(MUSTER_CCACHE ccache)
if(MUSTER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${MUSTER_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MUSTER_CCACHE})
endif()

# muster_add_library(<target> SOURCES ... [PUBLIC ...] [PRIVATE ...]): a static library of one folder, whose headers are
# included by their path from the project's root ("host/base/clock.hpp").
function(muster_add_library name)
  cmake_parse_arguments(L "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${L_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${L_PUBLIC} PRIVATE muster_build ${L_PRIVATE})
endfunction()

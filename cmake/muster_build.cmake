# What every target of this project is compiled with. Linked PRIVATE as `muster_build`, so that nothing of it reaches
# plugin authors and other users of the installed libraries.
add_library(muster_build INTERFACE)
target_compile_options(muster_build INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast>)

# Warnings are errors in the builds that tests use. They are not in a release build, which people make with other compilers
# too, and there g++ 12 warns without cause: when it optimises, it takes the inside of an empty std::optional for used,
# strings for overlapping that do not, and with precompiled headers the standard library's own code for wrong. An ignored
# Result is an error in every build.
target_compile_options(muster_build INTERFACE
  $<$<CONFIG:Debug>:-Werror>
  $<$<COMPILE_LANGUAGE:CXX>:-Werror=unused-result>
  # Clang takes libstdc++'s own use of get_temporary_buffer, in stable_sort, for ours.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds
    -Wno-stringop-overflow -Wno-stringop-overread>)

# A unit of several files needs up to 1 GB in any case. Without collections in between g++ takes an eighth less time.
target_compile_options(muster_build INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=2097152>)

# Files that are compiled together see each other's anonymous namespaces; that hides nothing in a build of its own for each.
if(CMAKE_UNITY_BUILD)
  target_compile_options(muster_build INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>>)
endif()

set(MUSTER_SANITIZE "" CACHE STRING "Sanitizers, as the compiler's -fsanitize takes them: address,undefined or thread")
option(MUSTER_SANITIZE_ALL "Look for all that a sanitizer can find, in all tests that it can run, not only in those it is most for" OFF)
if(MUSTER_SANITIZE)
  add_compile_options(-fsanitize=${MUSTER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MUSTER_SANITIZE})
  add_compile_definitions(MUSTER_SANITIZED=1)  # g++ and clang have different ways to say it
  if(MUSTER_SANITIZE MATCHES thread)
    add_compile_definitions(MUSTER_SANITIZED_THREADS=1)
  endif()
  # These look at every use of every pointer, which makes compiling take nearly twice as long, for little: a null pointer
  # that is used crashes under AddressSanitizer, too, with the same trace.
  if(MUSTER_SANITIZE MATCHES undefined AND NOT MUSTER_SANITIZE_ALL)
    add_compile_options(-fno-sanitize=null,alignment,object-size)
  endif()
  if(MUSTER_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)
  endif()
endif()

find_program(MUSTER_CCACHE ccache)
if(MUSTER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With these ccache caches what is compiled with a precompiled header, too.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${MUSTER_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# Much of the time a compiler spends here goes into the same few headers, so all presets read them precompiled. ./dev lint
# does not: it finds the file that forgets an include.
option(MUSTER_PRECOMPILED_HEADERS "Precompile what nearly every file includes" OFF)
function(muster_use_precompiled_headers target group)
  if(NOT MUSTER_PRECOMPILED_HEADERS)
    return()
  endif()
  if(NOT TARGET muster_${group}_headers)
    set(headers <algorithm> <charconv> <chrono> <condition_variable> <filesystem> <functional> <map> <memory> <mutex>
                <optional> <set> <string> <thread> <variant> <vector>
                <boost/json/value.hpp> <muster/bidding_strategy.hpp> <muster/codec.hpp>)
    if(group STREQUAL test)
      list(APPEND headers <fstream> <future> <random> <gmock/gmock.h> <gtest/gtest.h>)
    elseif(group STREQUAL program)
      list(APPEND headers <CLI/CLI.hpp>)
    endif()
    set(source ${PROJECT_BINARY_DIR}/muster_${group}_headers.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// Only here to have headers precompiled for it.\nint main() {}\n")
    if(group STREQUAL library)
      add_library(muster_${group}_headers OBJECT ${source})
    else()
      add_executable(muster_${group}_headers EXCLUDE_FROM_ALL ${source})
    endif()
    target_link_libraries(muster_${group}_headers PRIVATE muster_build Boost::json)
    target_include_directories(muster_${group}_headers PRIVATE ${PROJECT_SOURCE_DIR}/plugin-api/include)
    if(group STREQUAL test)
      target_link_libraries(muster_${group}_headers PRIVATE GTest::gtest GTest::gmock)
    elseif(group STREQUAL program)
      target_link_libraries(muster_${group}_headers PRIVATE CLI11::CLI11)
    endif()
    target_precompile_headers(muster_${group}_headers PRIVATE ${headers})
  endif()
  target_link_libraries(${target} PRIVATE Boost::json)  # its definitions are part of the precompiled headers
  target_precompile_headers(${target} REUSE_FROM muster_${group}_headers)
endfunction()

# Compiles a target whose speed nobody notices in less time; other targets of an optimised build have -O2.
function(muster_optimise_little target)
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
endfunction()

# muster_add_library(<target> SOURCES ... [PUBLIC ...] [PRIVATE ...]): a static library of one folder, whose headers are
# included by their path from the project's root ("lib/base/clock.hpp").
#
# Small folders that include the same headers take less time together than each for itself. Where files are compiled together, those of
# all folders below one that sets MUSTER_COMPILE_TOGETHER to a name are one library, and the target of a folder stands for it.
function(muster_add_library name)
  cmake_parse_arguments(L "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(CMAKE_UNITY_BUILD AND MUSTER_COMPILE_TOGETHER)
    muster_add_to_library(${name} muster_${MUSTER_COMPILE_TOGETHER}_together)
    return()
  endif()
  add_library(${name} STATIC ${L_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${L_PUBLIC} PRIVATE muster_build ${L_PRIVATE})
  muster_use_precompiled_headers(${name} library)
endfunction()

# Uses the arguments of muster_add_library.
function(muster_add_to_library name together)
  if(NOT TARGET ${together})
    add_library(${together} STATIC)
    target_include_directories(${together} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${together} PRIVATE muster_build)
    muster_use_precompiled_headers(${together} library)
  endif()
  list(TRANSFORM L_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(${together} PRIVATE ${L_SOURCES})
  get_target_property(members ${together} MUSTER_MEMBERS)
  if(members)
    list(REMOVE_ITEM L_PUBLIC ${members})
    list(REMOVE_ITEM L_PRIVATE ${members})
  endif()
  target_link_libraries(${together} PUBLIC ${L_PUBLIC} PRIVATE ${L_PRIVATE})
  set_property(TARGET ${together} APPEND PROPERTY MUSTER_MEMBERS ${name})
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE ${together})
endfunction()

# Installs a unit, and for the host its default configuration, with the paths of this installation. The files in the
# tree name those of a package (/usr/bin, /usr/lib, /etc); below another prefix everything but the data directory moves there.
# Run by `cmake --install`. Variables: MUSTER_SOURCE, MUSTER_SERVICE (UNIT <file> [CONFIGURATION]).
cmake_parse_arguments(S "CONFIGURATION" "UNIT" "" ${MUSTER_SERVICE})
# A prefix may be given relative to the current folder; services need the whole path.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE OUTPUT_VARIABLE prefix)
if(prefix STREQUAL "/usr")
  set(etc /etc)
else()
  set(etc ${prefix}/etc)
endif()
set(data /var/lib/muster)

# install_text(<file> <text>): a file that somebody has changed stays as it is.
function(install_text file text)
  if(EXISTS "$ENV{DESTDIR}${file}")
    file(READ "$ENV{DESTDIR}${file}" old)
    if(NOT old STREQUAL text)
      message(STATUS "Kept: ${file} (the new one is ${file}.new)")
      set(file "${file}.new")
    endif()
  endif()
  message(STATUS "Installing: $ENV{DESTDIR}${file}")
  file(WRITE "$ENV{DESTDIR}${file}" "${text}")
  file(CHMOD "$ENV{DESTDIR}${file}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${file}")
  set(CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_MANIFEST_FILES}" PARENT_SCOPE)
endfunction()

# replace(<variable> <from> <to>): the text must be there, or the file has changed and this script has not.
function(replace variable from to)
  string(FIND "${${variable}}" "${from}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "packaging/install_service.cmake: there is no \"${from}\" to replace")
  endif()
  string(REPLACE "${from}" "${to}" replaced "${${variable}}")
  set(${variable} "${replaced}" PARENT_SCOPE)
endfunction()

file(READ ${MUSTER_SOURCE}/${S_UNIT} unit)
replace(unit "/usr/bin/" "${prefix}/bin/")
replace(unit "/usr/share/" "${prefix}/share/")
replace(unit "/etc/muster/" "${etc}/muster/")
cmake_path(GET S_UNIT FILENAME name)
set(place ${prefix}/lib/systemd/system/${name})
file(REMOVE "$ENV{DESTDIR}${place}")  # changes belong into a drop-in
install_text(${place} "${unit}")

if(S_CONFIGURATION)
  file(READ ${MUSTER_SOURCE}/host/config/default.toml text)
  replace(text "# What musterd runs on when it is given no --config. Every key is optional; docs/operating.md\n# describes them all."
    "# The host's configuration. Every key is optional; operating.md in ${prefix}/share/doc/muster/docs\n# describes them all.\n# Check it with `musterd --check --config ${etc}/muster/muster.toml`.")
  replace(text " At its first start the host puts one there." "")
  replace(text "\${dataDirectory}" "\"${data}\"")
  replace(text "\${pluginFolders}" "[\"${prefix}/lib/muster/plugins\", \"${data}/plugins.d\"]")
  replace(text "\${workers}" "\"${etc}/muster/workers\"")
  replace(text "\${tasks}" "\"${data}/tasks\"")
  replace(text "\${local}" "\"${data}/local\"")
  replace(text "\${exampleWorker}" "\"${prefix}/lib/muster/example-worker\"")
  install_text(${etc}/muster/muster.toml "${text}")
  file(READ ${MUSTER_SOURCE}/host/config/default_workers.toml text)
  replace(text "musterd wrote this file at its first start and does not touch it again: edit it while the host\n# runs,"
    "Edit this file while the host\n# runs,")
  replace(text "\${poolTasks}" "\"${data}/tasks/worker-manager/default\"")
  install_text(${etc}/muster/workers/default.toml "${text}")
endif()

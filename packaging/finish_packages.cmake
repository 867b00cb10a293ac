# What Debian's policy asks of a package and an installation elsewhere does not need. Run by cpack between installing into
# its own folder and packing that.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH if that is set
file(GLOB folders LIST_DIRECTORIES ON ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*)
foreach(folder ${folders})
  cmake_path(GET folder FILENAME package)
  file(WRITE ${folder}/changelog "${package} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
    "  * What changed is in /usr/share/doc/muster/CHANGELOG.md of the package muster.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  execute_process(COMMAND gzip -9nf ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
endforeach()
set(overrides ${CPACK_TEMPORARY_DIRECTORY}/agent/usr/share/lintian/overrides)
file(MAKE_DIRECTORY ${overrides})
file(COPY_FILE ${CPACK_MUSTER_SOURCE}/packaging/deb/muster-agent/lintian-overrides ${overrides}/muster-agent)
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/*.[1-9])
if(pages)
  execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()

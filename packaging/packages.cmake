# The Debian packages. Read by cpack itself, so that a version on its command line (-D CPACK_PACKAGE_VERSION=...) reaches the
# dependencies, too.
set(control ${CPACK_MUSTER_SOURCE}/packaging/deb)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_VERSION ${CPACK_PACKAGE_VERSION})

set(CPACK_DEBIAN_HOST_PACKAGE_NAME muster)
set(CPACK_DEBIAN_HOST_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_HOST_DESCRIPTION "host that keeps fleets of CI workers at the right size
The daemon musterd reads worker configurations, learns how much work waits,
asks provider plugins for bids, starts and retires workers across clouds and
datacenters, and can always say why something waits. The command muster is
for operators and teams.")
set(CPACK_DEBIAN_HOST_PACKAGE_DEPENDS "adduser, init-system-helpers (>= 1.54~), muster-agent (= ${CPACK_PACKAGE_VERSION})")
set(CPACK_DEBIAN_HOST_PACKAGE_RECOMMENDS "git, ca-certificates")
set(CPACK_DEBIAN_HOST_PACKAGE_SUGGESTS "muster-plugin-dev")
set(CPACK_DEBIAN_HOST_PACKAGE_CONTROL_EXTRA
  ${control}/muster/conffiles ${control}/muster/postinst ${control}/muster/prerm ${control}/muster/postrm)

set(CPACK_DEBIAN_AGENT_PACKAGE_NAME muster-agent)
set(CPACK_DEBIAN_AGENT_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_AGENT_DESCRIPTION "makes a machine or a process a worker of muster
The agent proves the identity of its machine to a host, fetches credentials
and the worker's configuration, starts the program that does the work, and
keeps both fresh.")
set(CPACK_DEBIAN_AGENT_PACKAGE_DEPENDS "adduser, init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_AGENT_PACKAGE_RECOMMENDS "ca-certificates")
set(CPACK_DEBIAN_AGENT_PACKAGE_CONTROL_EXTRA
  ${control}/muster-agent/postinst ${control}/muster-agent/prerm ${control}/muster-agent/postrm)

set(CPACK_DEBIAN_RELAY_PACKAGE_NAME muster-relay)
set(CPACK_DEBIAN_RELAY_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_RELAY_DESCRIPTION "vouches for the machines of a datacenter to a muster host
The relay finds out the DNS name of a machine that asks, and fetches
credentials for it from a host of muster.")
set(CPACK_DEBIAN_RELAY_PACKAGE_DEPENDS "init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_RELAY_PACKAGE_RECOMMENDS "ca-certificates")
set(CPACK_DEBIAN_RELAY_PACKAGE_CONTROL_EXTRA
  ${control}/muster-relay/postinst ${control}/muster-relay/prerm ${control}/muster-relay/postrm)

set(CPACK_DEBIAN_PLUGINDEV_PACKAGE_NAME muster-plugin-dev)
set(CPACK_DEBIAN_PLUGINDEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PLUGINDEV_DESCRIPTION "development of plugins for muster
Headers, libraries, CMake packages and templates for providers and bidding
strategies of muster, and the library that reads worker configurations.")
set(CPACK_DEBIAN_PLUGINDEV_PACKAGE_DEPENDS
  "g++, cmake (>= 3.25), libboost1.81-dev, libboost-json1.81-dev, libre2-dev, libssl-dev, libtomlplusplus-dev")
set(CPACK_DEBIAN_PLUGINDEV_PACKAGE_RECOMMENDS "muster (= ${CPACK_PACKAGE_VERSION})")

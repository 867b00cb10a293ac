#include "host/plugin_loader/library.hpp"

#include <dlfcn.h>
#include <string>
#include <vector>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/library_info.hpp>
#include <boost/dll/shared_library.hpp>

namespace muster::plugin_loader {
namespace {

namespace dll = boost::dll;

// The descriptor of ABI 1.0, which every plugin has at least.
constexpr std::size_t smallest_descriptor =
    offsetof(muster_plugin, destroy) + sizeof(muster_plugin::destroy);

Error no_symbol() {
  return Error::invalid("exports no " MUSTER_PLUGIN_SYMBOL);
}

Result<void> check_descriptor(const muster_plugin& plugin) {
  if (plugin.struct_size < smallest_descriptor)
    return Error::invalid("its descriptor is " + std::to_string(plugin.struct_size) +
                          " bytes, ABI 1.0 needs " + std::to_string(smallest_descriptor));
  for (const auto& [name, is_there] : {std::pair{"kind", plugin.kind != nullptr},
                                       {"name", plugin.name != nullptr},
                                       {"version", plugin.version != nullptr},
                                       {"create", plugin.create != nullptr},
                                       {"call", plugin.call != nullptr},
                                       {"destroy", plugin.destroy != nullptr}})
    if (!is_there) return Error::invalid(std::string("its descriptor has no ") + name);
  const std::string_view kind(plugin.kind);
  if (kind != "provider" && kind != "strategy")
    return Error::invalid("its kind is \"" + std::string(kind) +
                          "\"; this host knows provider and strategy");
  return {};
}

}  // namespace

Result<void> read_symbols(const std::filesystem::path& library) {
  std::vector<std::string> symbols;
  try {
    symbols = dll::library_info(library).symbols();
  } catch (const std::exception& error) {
    return Error::invalid(std::string("not a readable ELF library (") + error.what() + ")");
  }
  std::string other;
  for (const std::string& symbol : symbols) {
    if (symbol == MUSTER_PLUGIN_SYMBOL) return {};
    if (symbol.starts_with(MUSTER_PLUGIN_SYMBOL_PREFIX))
      other = symbol.substr(sizeof(MUSTER_PLUGIN_SYMBOL_PREFIX) - 1);
  }
  if (other.empty()) return no_symbol();
  return Error::invalid("built for plugin ABI " + other + ", this host speaks ABI " +
                        std::to_string(MUSTER_ABI_MAJOR));
}

Result<std::shared_ptr<const Library>> Library::open(const std::filesystem::path& library) {
  try {
    // Throws with dlerror's text, which the overload with an error code loses.
    dll::shared_library mapped(library, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
    if (!mapped.has(MUSTER_PLUGIN_SYMBOL)) return no_symbol();
    const auto& plugin = mapped.get<const muster_plugin>(MUSTER_PLUGIN_SYMBOL);
    if (const auto good = check_descriptor(plugin); !good) return good.error();
    ::dlopen(library.c_str(),
             RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);  // stays mapped: see the header
    return std::shared_ptr<const Library>(new Library(plugin));
  } catch (const std::exception& error) {
    return Error::invalid(std::string("cannot be loaded: ") + error.what());
  }
}

}  // namespace muster::plugin_loader

// toml++ with the settings this library uses, for the few files that need it.
#pragma once

#include <toml++/toml.h>

// The image of a launch document of any provider.
#pragma once

#include <string>

#include <muster/json.hpp>

namespace muster::fleet {

// The first value of a key that names an image (image, imageId, sourceImage, imageReference, in any
// case), outermost first; empty: there is none.
std::string image_of(const json::object& document);

}  // namespace muster::fleet

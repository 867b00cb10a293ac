// Owners of what OpenSSL makes.
#pragma once

#include <memory>

namespace muster {

// Calls OpenSSL's own function for it: OpensslPointer<EVP_PKEY, EVP_PKEY_free>.
template <auto free_function>
struct OpensslDeleter {
  template <class T>
  void operator()(T* object) const {
    free_function(object);
  }
};
template <class T, auto free_function>
using OpensslPointer = std::unique_ptr<T, OpensslDeleter<free_function>>;

}  // namespace muster

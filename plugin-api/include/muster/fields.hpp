// How a struct says which of its members stand in a document, under which names:
//
//   struct Price {
//     std::string instance_type;
//     double per_hour = 0;
//     static constexpr auto fields(auto visit) {
//       return visit(required("instanceType", &Price::instance_type),
//                    required("perHour", &Price::per_hour));
//     }
//   };
//
// `visit` is called once with all of them. It is a template so that a file that only includes the
// struct does not pay for the list; so the struct cannot be one inside a function.
//
// Both directions of the codec are made from it. A field that is not listed is ignored when read,
// so that a newer sender can talk to an older reader.
#pragma once

#include <string_view>

namespace muster {

template <class Struct, class Member>
struct Field {
  std::string_view name;
  Member Struct::*member;
  bool is_required;
};

template <class Struct, class Member>
constexpr Field<Struct, Member> required(std::string_view name, Member Struct::*member) {
  return {name, member, true};
}

// Absent in the document: the member keeps its default. Never written if it is an empty
// std::optional.
template <class Struct, class Member>
constexpr Field<Struct, Member> optional(std::string_view name, Member Struct::*member) {
  return {name, member, false};
}

}  // namespace muster

#include <charconv>
#include <pugixml.hpp>

#include "lib/base/letter_case.hpp"
#include "plugins/cloud/redaction.hpp"
#include "plugins/provider/aws/query.hpp"

namespace muster::aws {
namespace {

using Type = Shape::Type;

constexpr std::size_t longest_title = 80;

// Without the prefix of a namespace: "ns2:item" is "item".
std::string_view local_name(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const auto colon = name.find(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

template <class Number>
bool read_number(std::string_view text, json::value& result) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  result = number;
  return true;
}

Error bad_answer(const std::string& what) {
  return Error::transient(what);
}

// Elements along their shape. The model bounds the depth.
class Reader {
 public:
  json::value read(const pugi::xml_node& node, const Shape& shape) {
    switch (shape.type) {
      case Type::structure:
        return structure(node, shape);
      case Type::list:
        return list(node, *shape.element);
      default:
        return scalar(node, shape.type);
    }
  }

  json::object structure(const pugi::xml_node& node, const Shape& shape) {
    json::object object;
    for (const pugi::xml_node& child : node.children()) {
      const auto found = shape.by_xml_name.find(local_name(child));
      if (found == shape.by_xml_name.end()) continue;
      const Member& member = shape.members[found->second];
      object[member.name] = read(child, *member.shape);
    }
    for (const Member& member : shape.members)
      if (member.shape->type == Type::list && !object.contains(member.name))
        object[member.name] = json::array();
    return object;
  }

  const std::string& mistake() const { return mistake_; }

 private:
  json::array list(const pugi::xml_node& node, const Shape& element) {
    json::array array;
    for (const pugi::xml_node& child : node.children())
      if (child.type() == pugi::node_element) array.push_back(read(child, element));
    return array;
  }

  json::value scalar(const pugi::xml_node& node, Type type) {
    const std::string_view text = node.text().get();
    json::value value;
    bool is_right = true;
    if (type == Type::integer) {
      is_right = read_number<std::int64_t>(text, value);
    } else if (type == Type::number) {
      is_right = read_number<double>(text, value);
    } else if (type == Type::boolean) {
      is_right = text == "true" || text == "false";
      value = text == "true";
    } else {
      value = text;
    }
    if (!is_right && mistake_.empty())
      mistake_ = "sent XML whose <" + std::string(local_name(node)) + "> is \"" +
                 cloud::printable(text, longest_title) + "\"";
    return value;
  }

  std::string mistake_;
};

// The document's element, or why there is none.
Result<pugi::xml_node> parse(pugi::xml_document& document, std::string_view body) {
  const auto status =
      document.load_buffer(body.data(), body.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!status) {
    const bool began = body.find('<') != body.npos && describe_body(body) == "XML";
    return bad_answer(began ? "sent XML that ends in the middle or is broken after " +
                                  std::to_string(status.offset) + " of " +
                                  std::to_string(body.size()) + " bytes"
                            : "sent " + describe_body(body) + " instead of XML");
  }
  const pugi::xml_node root = document.document_element();
  if (!root || to_lower(local_name(root)) == "html")
    return bad_answer("sent " + describe_body(body) + " instead of XML");
  return root;
}

pugi::xml_node child_named(const pugi::xml_node& node, std::string_view name) {
  for (const pugi::xml_node& child : node.children())
    if (local_name(child) == name) return child;
  return {};
}

Result<json::object> read_xml(const Action& action, const std::string& action_name,
                              std::string_view body) {
  pugi::xml_document document;
  const auto root = parse(document, body);
  if (!root) return root.error();
  if (local_name(*root) != action_name + "Response")
    return bad_answer("sent <" + cloud::printable(local_name(*root), longest_title) +
                      "> instead of <" + action_name + "Response>");
  if (!action.output) return json::object();
  pugi::xml_node from = *root;
  if (!action.result_wrapper.empty()) {
    from = child_named(from, action.result_wrapper);
    if (!from) return bad_answer("sent an answer without <" + action.result_wrapper + ">");
  }
  Reader reader;
  json::object answer = reader.structure(from, *action.output);
  if (!reader.mistake().empty()) return bad_answer(reader.mistake());
  return answer;
}

// As in XML: a list that is absent is an empty one.
void fill_lists(json::object& object, const Shape& shape) {
  for (const Member& member : shape.members)
    if (member.shape->type == Type::list && !object.contains(member.name))
      object[member.name] = json::array();
}

Result<json::object> read_json(const Action& action, std::string_view body) {
  if (!action.output) return json::object();
  auto answer = json::parse_object(body);
  if (!answer)
    return bad_answer(body.starts_with('{') ? "sent JSON that is broken: " + answer.error().message
                                            : "sent " + describe_body(body) + " instead of JSON");
  fill_lists(*answer, *action.output);
  return answer;
}

cloud::CloudError error_in_xml(int status, std::string_view body) {
  cloud::CloudError said{.code = {}, .status = status};
  pugi::xml_document document;
  const auto root = parse(document, body);
  if (!root) return said;
  pugi::xml_node error = child_named(*root, "Error");
  if (!error) error = child_named(child_named(*root, "Errors"), "Error");
  said.code = child_named(error, "Code").text().get();
  said.message = child_named(error, "Message").text().get();
  for (const char* name : {"RequestID", "RequestId"})
    if (said.request_id.empty()) said.request_id = child_named(*root, name).text().get();
  return said;
}

// {"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "..."}
cloud::CloudError error_in_json(int status, std::string_view body) {
  cloud::CloudError said{.code = {}, .status = status};
  const auto document = json::parse_object(body);
  if (!document) return said;
  const auto text = [&](const char* key) {
    const json::value* const found = document->if_contains(key);
    return found && found->is_string() ? std::string(found->get_string()) : std::string();
  };
  said.code = text("__type");
  if (said.code.empty()) said.code = text("code");
  said.code = said.code.substr(said.code.find('#') + 1);
  said.code = said.code.substr(0, said.code.find(':'));
  said.message = text("message");
  if (said.message.empty()) said.message = text("Message");
  return said;
}

}  // namespace

Result<json::object> read_body(const Service& service, const std::string& action_name,
                               std::string_view body) {
  const Action* const action = service.action(action_name);
  if (!action) return Error::invalid("the model of " + service.name + " has no " + action_name);
  return service.protocol == "json" ? read_json(*action, body)
                                    : read_xml(*action, action_name, body);
}

cloud::CloudError read_error(const Service& service, int status, std::string_view body) {
  cloud::CloudError said =
      service.protocol == "json" ? error_in_json(status, body) : error_in_xml(status, body);
  said.code = cloud::printable(said.code, 128);
  said.message = cloud::printable(said.message, 1000);
  said.request_id = cloud::printable(said.request_id, 128);
  return said;
}

std::string describe_body(std::string_view body) {
  const std::string small = to_lower(body.substr(0, 4096));
  if (small.find_first_not_of(" \t\r\n") == small.npos) return "nothing";
  if (small.find("<html") != small.npos || small.find("<!doctype html") != small.npos) {
    const auto title = small.find("<title>"), end = small.find("</title>");
    if (title == small.npos || end == small.npos || end < title) return "a web page";
    const auto begin = title + std::string_view("<title>").size();
    return "a web page (title: " +
           cloud::printable(body.substr(begin, end - begin), longest_title) + ")";
  }
  if (small[small.find_first_not_of(" \t\r\n\xef\xbb\xbf")] == '<') return "XML";
  if (small[small.find_first_not_of(" \t\r\n")] == '{') return "JSON";
  return "something else (" + cloud::printable(body.substr(0, 60), 60) + ")";
}

}  // namespace muster::aws

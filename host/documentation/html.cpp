#include "host/documentation/html.hpp"

#include <array>
#include <chrono>
#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <memory>
#include <mutex>

namespace muster::documentation {
namespace {

// Safe: raw HTML is left out, and links with dangerous schemes lose them. The default of this
// version; CMARK_OPT_UNSAFE would end it.
constexpr int options = CMARK_OPT_SAFE | CMARK_OPT_VALIDATE_UTF8;

struct End {
  void operator()(cmark_parser* parser) const { cmark_parser_free(parser); }
  void operator()(cmark_node* node) const { cmark_node_free(node); }
  void operator()(cmark_iter* iterator) const { cmark_iter_free(iterator); }
};
using Parser = std::unique_ptr<cmark_parser, End>;
using Node = std::unique_ptr<cmark_node, End>;
using Iterator = std::unique_ptr<cmark_iter, End>;

std::string text_of(const char* text) {
  return text ? text : "";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

Node parsed(const std::string& text) {
  static std::once_flag registered;
  std::call_once(registered, cmark_gfm_core_extensions_ensure_registered);
  const Parser parser(cmark_parser_new(options));
  for (const char* name : {"table", "strikethrough", "autolink", "tasklist", "tagfilter"})
    if (cmark_syntax_extension* extension = cmark_find_syntax_extension(name))
      cmark_parser_attach_syntax_extension(parser.get(), extension);
  cmark_parser_feed(parser.get(), text.data(), text.size());
  return Node(cmark_parser_finish(parser.get()));
}

std::vector<cmark_node*> nodes_of(cmark_node* root, cmark_node_type type) {
  std::vector<cmark_node*> found;
  const Iterator iterator(cmark_iter_new(root));
  for (auto event = cmark_iter_next(iterator.get()); event != CMARK_EVENT_DONE;
       event = cmark_iter_next(iterator.get()))
    if (event == CMARK_EVENT_ENTER &&
        cmark_node_get_type(cmark_iter_get_node(iterator.get())) == type)
      found.push_back(cmark_iter_get_node(iterator.get()));
  return found;
}

std::string words_of(cmark_node* node) {
  std::string words;
  for (const cmark_node_type type : {CMARK_NODE_TEXT, CMARK_NODE_CODE})
    for (cmark_node* each : nodes_of(node, type)) words += text_of(cmark_node_get_literal(each));
  return words;
}

// What is inside stands in the place of the node.
void unwrap(cmark_node* node) {
  while (cmark_node* child = cmark_node_first_child(node)) {
    cmark_node_unlink(child);
    cmark_node_insert_before(node, child);
  }
  cmark_node_unlink(node);
  cmark_node_free(node);
}

void resolve(cmark_node* root, cmark_node_type type, LinkKind kind, const LinkBase& base,
             const std::string& path) {
  std::vector<cmark_node*> links = nodes_of(root, type);
  for (auto link = links.rbegin(); link != links.rend(); ++link) {  // the inner ones first
    const auto target = resolve_link(base, path, text_of(cmark_node_get_url(*link)), kind);
    if (target)
      cmark_node_set_url(*link, target->c_str());
    else
      unwrap(*link);
  }
}

// cmark writes no ids: a block of our own stands around each heading's content.
void add_ids(cmark_node* root, const LinkBase& base, const std::string& path) {
  for (cmark_node* heading : nodes_of(root, CMARK_NODE_HEADING)) {
    Node anchor(cmark_node_new(CMARK_NODE_CUSTOM_BLOCK));
    const std::string opening =
        "<div id=\"" + escaped(heading_id(base, path, words_of(heading))) + "\">";
    cmark_node_set_on_enter(anchor.get(), opening.c_str());
    cmark_node_set_on_exit(anchor.get(), "</div>");
    if (cmark_node_insert_before(heading, anchor.get())) (void)anchor.release();
  }
}

std::string rendered(const Page& page, const LinkBase& base) {
  const Node root = parsed(page.text);
  resolve(root.get(), CMARK_NODE_IMAGE, LinkKind::image, base, page.path);
  resolve(root.get(), CMARK_NODE_LINK, LinkKind::page, base, page.path);
  add_ids(root.get(), base, page.path);
  const std::unique_ptr<char, decltype(&std::free)> html(
      cmark_render_html(root.get(), options, nullptr), std::free);
  return text_of(html.get());
}

// How much of the time is left, which only rendering spends.
class Budget {
 public:
  explicit Budget(std::chrono::milliseconds time) : left_(time) {}
  bool spent() const { return left_ <= std::chrono::nanoseconds(0); }
  void begin() { begin_ = std::chrono::steady_clock::now(); }
  void end() { left_ -= std::chrono::steady_clock::now() - begin_; }

 private:
  std::chrono::nanoseconds left_;
  std::chrono::steady_clock::time_point begin_{};
};

// The tarball's pages, one <section> each.
std::string rendered_pages(const Hierarchy& hierarchy, const LinkBase& base, Budget& budget) {
  std::string out;
  for (const Page& page : pages_of(hierarchy)) {
    out += "<section id=\"" + escaped(page_id(base, page.path)) + "\">\n";
    if (budget.spent()) {
      out +=
          "<p>The pages before this one took too long to render. It is shown as it was "
          "written.</p>\n<pre>" +
          escaped(page.text) + "</pre>\n";
    } else {
      budget.begin();
      out += rendered(page, base);
      budget.end();
    }
    out += "</section>\n";
  }
  return out;
}

}  // namespace

std::string rendered_html(const Hierarchy* own, const Hierarchy* general,
                          const std::string& general_addresses, std::chrono::milliseconds time) {
  std::string out;
  Budget budget(time);
  if (own) out += rendered_pages(*own, {own->files, "docs-own", "files/"}, budget);
  if (!general) return out;
  out += "<h1>" + std::string(general_heading) + "</h1>\n";
  return out +
         rendered_pages(*general, {general->files, "docs-general", general_addresses}, budget);
}

}  // namespace muster::documentation

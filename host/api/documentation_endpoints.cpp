// Documentation of pools and worker configurations: tarballs in, files, Markdown and HTML out.
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "host/api/handlers.hpp"
#include "host/api/query_parameters.hpp"
#include "host/documentation/library.hpp"
#include "lib/http/message.hpp"
#include "lib/url/url.hpp"

namespace muster::api {
namespace {

using documentation::DocumentationRow;
using documentation::Kind;
using documentation::Library;
using documentation::Shown;

// Documents come from outside: a browser that opens one runs nothing of it.
constexpr const char* nothing_runs = "default-src 'none'; sandbox; frame-ancestors 'none'";
constexpr const char* only_images =
    "default-src 'none'; img-src 'self'; sandbox; frame-ancestors 'none'";

Library& library_of(const Call& call) {
  return *services_of(call).documentation;
}

documentation::Subject subject_of_documentation(const Call& call) {
  const auto& parameters = call.parameters();
  const bool is_pool = std::ranges::any_of(
      parameters, [](const auto& each) { return each.first == "workerPoolId"; });
  if (is_pool) return {Kind::pool, call.parameter("workerPoolId")};
  return {Kind::worker_configuration, call.parameter("configurationId")};
}

std::string stem_of(const std::string& file) {
  return std::filesystem::path(file).stem().string();
}

// The subjects that there are now.
struct Subjects {
  std::set<std::string> pools, configurations;
  bool contain(Kind kind, const std::string& name) const {
    return (kind == Kind::pool ? pools : configurations).contains(name);
  }
};

Subjects known_subjects(const Call& call) {
  Subjects known;
  call.host().fleet->read([&](const fleet::Fleet& fleet, fleet::Now) {
    for (const fleet::Pool& pool : fleet.pools())
      if (!pool.removed() && pool.spec) known.pools.insert(pool.id.str());
  });
  const auto& files_of = services_of(call).configuration_files;
  if (const auto files = files_of ? files_of(false) : nullptr)
    for (const rules::SourceFile& file : files->files)
      known.configurations.insert(stem_of(file.name));
  return known;
}

// Of the pool's own; empty: it was made through the API, or is gone.
std::string configuration_id_of(const Call& call, const documentation::Subject& subject) {
  if (subject.kind != Kind::pool) return {};
  std::string id;
  call.host().fleet->read([&](const fleet::Fleet& fleet, fleet::Now) {
    const fleet::Pool* pool = fleet.find_pool(WorkerPoolId(subject.name));
    if (pool && pool->spec) id = stem_of(pool->spec->origin);
  });
  return id;
}

json::object document_of(const DocumentationRow& row) {
  return codec::to_value(row).as_object();
}

documentation::Condition condition_of(const Call& call) {
  const auto header = [&](const char* name) {
    return std::string(call.request().header(name).value_or(""));
  };
  return {header("If-Match"), header("If-None-Match")};
}

// -------------------------------------------------------------------------------------------------
// Tarballs

Answer list_documentation(const Call& call) {
  const auto rows = library_of(call).list();
  if (!rows) return to_failure(rows.error());
  const Subjects known = known_subjects(call);
  json::array shown;
  for (const DocumentationRow& row : *rows) {
    json::object document = document_of(row);
    document["orphan"] = !known.contain(row.kind, row.name);
    shown.push_back(std::move(document));
  }
  return json_answer(json::object{{"documentation", std::move(shown)}});
}

Answer put_documentation(const Call& call) {
  const documentation::Subject subject = subject_of_documentation(call);
  if (!known_subjects(call).contain(subject.kind, subject.name))
    return not_found("there is no " + documentation::in_words(subject) +
                     "; see: " + (subject.kind == Kind::pool ? "muster pools" : "muster status"));
  const auto put =
      library_of(call).put(subject, call.request().body, condition_of(call), call.client_id(),
                           call.host().clock->now(), endpoints::audit_event(call));
  if (!put) return to_failure(put.error());
  return json_answer(document_of(*put));
}

Answer delete_documentation(const Call& call) {
  const auto removed = library_of(call).remove(subject_of_documentation(call), condition_of(call),
                                               endpoints::audit_event(call));
  if (!removed) return to_failure(removed.error());
  return json_answer(json::object{});
}

Answer describe_documentation(const Call& call) {
  const auto found = library_of(call).tarball(subject_of_documentation(call));
  if (!found) return to_failure(found.error());
  const auto files = documentation::unpack(found->bytes);
  if (!files) return to_failure(files.error());
  json::object document = document_of(found->row);
  json::array paths;
  for (const auto& [path, content] : *files) paths.emplace_back(path);
  document["paths"] = std::move(paths);
  return json_answer(document);
}

// -------------------------------------------------------------------------------------------------
// What is no JSON

using Bytes = boost::system::result<http::Response, Failure>;

// On a worker thread.
template <Bytes (*make)(const Call&)>
void answer_bytes(const CallPtr& call) {
  if (!endpoints::has_fleet(call)) return;
  endpoints::run_on_worker(call, [call] {
    Bytes made = make(*call);
    if (made) return call->respond(std::move(*made));
    call->fail(made.error());
  });
}

Bytes tarball_bytes(const Call& call) {
  auto found = library_of(call).tarball(subject_of_documentation(call));
  if (!found) return to_failure(found.error());
  return http::Response{200,
                        {{"Content-Type", "application/gzip"},
                         {"Content-Disposition", "attachment; filename=\"documentation.tar.gz\""},
                         {"ETag", "\"" + found->row.digest + "\""}},
                        std::move(found->bytes)};
}

// What a browser may show; everything else is only ever saved.
std::string_view shown_type_of(std::string_view path) {
  using TypeOf = std::pair<std::string_view, std::string_view>;
  constexpr std::array<TypeOf, 9> known{{{".md", "text/markdown; charset=utf-8"},
                                         {".txt", "text/plain; charset=utf-8"},
                                         {".json", "application/json"},
                                         {".png", "image/png"},
                                         {".gif", "image/gif"},
                                         {".jpg", "image/jpeg"},
                                         {".jpeg", "image/jpeg"},
                                         {".webp", "image/webp"},
                                         {".svg", "image/svg+xml"}}};
  const auto found =
      std::ranges::find_if(known, [&](const TypeOf& each) { return path.ends_with(each.first); });
  return found == known.end() ? std::string_view() : found->second;
}

Bytes file_bytes(const Call& call) {
  const auto found = library_of(call).tarball(subject_of_documentation(call));
  if (!found) return to_failure(found.error());
  auto files = documentation::unpack(found->bytes);
  if (!files) return to_failure(files.error());
  const std::string& path = call.parameter("documentPath");
  const auto file = files->find(path);
  if (file == files->end())
    return not_found("the documentation has no file " + path +
                     "; `muster docs list` with its "
                     "subject names all");
  http::Response response{
      200,
      {{"Content-Security-Policy", nothing_runs}, {"Cross-Origin-Resource-Policy", "same-origin"}},
      std::move(file->second)};
  const std::string_view type = shown_type_of(path);
  response.headers.push_back(
      {"Content-Type", std::string(type.empty() ? "application/octet-stream" : type)});
  if (type.empty()) response.headers.push_back({"Content-Disposition", "attachment"});
  return response;
}

Bytes text_answer(Result<Shown> shown, const char* type) {
  if (!shown) return to_failure(shown.error());
  return http::Response{200,
                        {{"Content-Type", type},
                         {"Content-Security-Policy", only_images},
                         {"ETag", "W/\"" + shown->tag + "\""}},
                        std::move(shown->text)};
}

Bytes markdown_text(const Call& call) {
  const documentation::Subject subject = subject_of_documentation(call);
  return text_answer(library_of(call).markdown(subject, configuration_id_of(call, subject)),
                     "text/markdown; charset=utf-8");
}

Bytes html_text(const Call& call) {
  const documentation::Subject subject = subject_of_documentation(call);
  const std::string id = configuration_id_of(call, subject);
  // From /pools/{workerPoolId}/documentation/html.
  const std::string files =
      "../../../worker-configurations/files/" + encode_segment(id) + "/documentation/files/";
  return text_answer(library_of(call).html(subject, id, files), "text/html; charset=utf-8");
}

// -------------------------------------------------------------------------------------------------
// The rows of both kinds

struct OfKind {
  std::string path;
  std::string_view read, manage;  // scopes
  std::string_view put, get, remove, describe, file, markdown, html;
  std::string_view of_markdown;
};

std::vector<Endpoint> rows_of(const OfKind& of) {
  constexpr std::string_view category = "documentation";
  return {
      {.name = of.put,
       .method = "PUT",
       .path = of.path,
       .scopes = all_of({of.manage}),
       .handler = OnWorkerThreadWithFleet{put_documentation},
       .query = {parameter::if_match, parameter::if_none_match},
       .input_type = "application/gzip",
       .audit = audited_by_handler(),
       .max_body_bytes = documentation::Limits{}.compressed_bytes,
       .output = "Documentation",
       .errors = {bad_input, missing, precondition, too_large, "TooManyRequests", unavailable},
       .category = category,
       .title = "Put a tarball in the place of the documentation",
       .description = "A gzip-compressed tar as taskcluster-lib-docs makes it: metadata.json, "
                      "README.md, docs/**, schemas/** and references/**.",
       .payload = endpoints::Payload::omitted},
      {.name = of.get,
       .method = "GET",
       .path = of.path,
       .scopes = all_of({of.read}),
       .handler = answer_bytes<tarball_bytes>,
       .query = {parameter::if_none_match},
       .content_type = "application/gzip",
       .errors = {missing, unavailable},
       .category = category,
       .title = "The tarball as it was put; its ETag is its digest"},
      {.name = of.remove,
       .method = "DELETE",
       .path = of.path,
       .scopes = all_of({of.manage}),
       .handler = OnWorkerThreadWithFleet{delete_documentation},
       .query = {parameter::if_match},
       .audit = audited_by_handler(),
       .output = "Empty",
       .errors = {missing, precondition, unavailable},
       .category = category,
       .title = "Delete the documentation"},
      {.name = of.describe,
       .method = "GET",
       .path = of.path + "/description",
       .scopes = all_of({of.read}),
       .handler = OnWorkerThreadWithFleet{describe_documentation},
       .output = "Documentation",
       .errors = {missing, unavailable},
       .category = category,
       .title = "Which version it is, who put it when, and its files"},
      {.name = of.file,
       .method = "GET",
       .path = of.path + "/files/{*documentPath}",
       .scopes = all_of({of.read}),
       .handler = answer_bytes<file_bytes>,
       .content_type = "application/octet-stream",
       .errors = {missing, unavailable},
       .category = category,
       .title = "A file of the documentation",
       .description = "Text, JSON and images have their types; everything else is sent as bytes to "
                      "save, so that a browser shows nothing of it."},
      {.name = of.markdown,
       .method = "GET",
       .path = of.path + "/markdown",
       .scopes = all_of({of.read}),
       .handler = answer_bytes<markdown_text>,
       .content_type = "text/markdown",
       .errors = {missing, unavailable},
       .category = category,
       .title = of.of_markdown},
      {.name = of.html,
       .method = "GET",
       .path = of.path + "/html",
       .scopes = all_of({of.read}),
       .handler = answer_bytes<html_text>,
       .content_type = "text/html",
       .errors = {missing, unavailable},
       .category = category,
       .title = "The same as HTML without scripts, styles and raw HTML of the documents"},
  };
}

}  // namespace

std::vector<Endpoint> documentation_endpoints() {
  std::vector<Endpoint> rows = rows_of(
      {.path = base + "/pools/{workerPoolId}/documentation",
       .read = "muster:get:pool-documentation:<workerPoolId>",
       .manage = "muster:manage-pool-documentation:<workerPoolId>",
       .put = "putPoolDocumentation",
       .get = "getPoolDocumentation",
       .remove = "deletePoolDocumentation",
       .describe = "describePoolDocumentation",
       .file = "getPoolDocumentationFile",
       .markdown = "getPoolDocumentationMarkdown",
       .html = "getPoolDocumentationHtml",
       .of_markdown = "The pool's own documents as one text, and those of its worker configuration "
                      "behind them"});
  for (Endpoint& row : rows_of({.path = base + "/worker-configurations/files/{configurationId}"
                                               "/documentation",
                       .read = "muster:get:configuration-documentation:<configurationId>",
                       .manage = "muster:manage-configuration-documentation:<configurationId>",
                       .put = "putConfigurationDocumentation",
                       .get = "getConfigurationDocumentation",
                       .remove = "deleteConfigurationDocumentation",
                       .describe = "describeConfigurationDocumentation",
                       .file = "getConfigurationDocumentationFile",
                       .markdown = "getConfigurationDocumentationMarkdown",
                       .html = "getConfigurationDocumentationHtml",
                       .of_markdown = "The documents of a worker configuration as one "
                                      "text"}))
    rows.push_back(std::move(row));
  rows.push_back({.name = "listDocumentation",
                  .method = "GET",
                  .path = base + "/documentation",
                  .scopes = all_of({"muster:get:documentation"}),
                  .handler = OnWorkerThreadWithFleet{list_documentation},
                  .output = "DocumentationList",
                  .errors = {unavailable},
                  .category = "documentation",
                  .title = "All documentation; `orphan` if its subject is gone"});
  return rows;
}

}  // namespace muster::api

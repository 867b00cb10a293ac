#include "case.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace muster::rules::cases {
namespace {

std::string at(const Document& document, std::size_t rule, Position position) {
  return document.rules[rule].rule_id + ":" + std::to_string(position.line);
}

void describe_earlier(const Document& document, const std::vector<Change>& earlier,
                      std::string& text) {
  for (const Change& change : earlier)
    text += "\n    was " + format_path(change.path) + " " +
            (change.value ? "= " + json::write(*change.value) : "deleted") + " <- " +
            at(document, change.rule, change.position);
}

}  // namespace

std::vector<fs::path> case_folders(const fs::path& root) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

fs::path configuration_of(const fs::path& folder) {
  for (const char* name : {"config.toml", "config.json"})
    if (fs::exists(folder / name)) return folder / name;
  throw std::runtime_error(folder.string() + " has neither config.toml nor config.json");
}

Facts read_facts(const fs::path& file) {
  const auto object = json::parse_object(read_text(file));
  if (!object) throw std::runtime_error(file.string() + ": " + object.error().message);
  Facts facts;
  for (const auto& [name, value] : *object)
    facts.emplace(std::string(name), std::string(value.as_string()));
  return facts;
}

std::string describe(const Document& document, const Evaluation& evaluation) {
  std::string text;
  for (const Leaf& leaf : evaluation.leaves) {
    text += format_path(leaf.path) + " = " + json::write(leaf.value) + " <- " +
            at(document, leaf.rule, leaf.position);
    describe_earlier(document, leaf.earlier, text);
    text += "\n";
  }
  for (const Deletion& deletion : evaluation.deleted) {
    text += format_path(deletion.path) + " deleted <- " +
            at(document, deletion.rule, deletion.position);
    describe_earlier(document, deletion.earlier, text);
    text += "\n";
  }
  return text;
}

std::string describe(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems)
    text += std::string(to_string(problem.severity)) + " " + problem.code + " " +
            to_string(problem) + "\n";
  return text;
}

}  // namespace muster::rules::cases

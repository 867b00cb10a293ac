// One folder under cases/: what goes in, and what comes out as text to be compared.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <muster/json.hpp>
#include <muster/rules/evaluate.hpp>

namespace muster::rules::cases {

namespace fs = std::filesystem;

std::vector<fs::path> case_folders(const fs::path& root);

std::string read_text(const fs::path& file);
void write_text(const fs::path& file, const std::string& text);

// `config.toml` or `config.json` of the folder.
fs::path configuration_of(const fs::path& folder);

Facts read_facts(const fs::path& file);

// One line for each leaf and each deletion, with what it replaced.
std::string describe(const Document& document, const Evaluation& evaluation);

// One line for each problem.
std::string describe(const Problems& problems);

}  // namespace muster::rules::cases

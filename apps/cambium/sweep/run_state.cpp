#include "apps/cambium/sweep/run_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/node.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/run/run_directory.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

constexpr const char* outcome_file = "sweep_outcome.yaml";

/// A damaged file is treated as empty.
deck::Node yaml_in(const std::string& directory, const std::string& name) {
  try {
    return deck::parse(text_in(directory, name), name);
  } catch (const InputError&) {
    return {};
  }
}

/// Independent of the command, for example `cambium restart` by hand.
bool all_stages_done(const std::string& directory) {
  const std::string done = text_in(directory, run_files::finished);
  const auto stages = yaml_in(directory, run_files::deck)["stages"].size();
  return stages > 0 && static_cast<std::size_t>(std::count(done.begin(), done.end(), '\n')) >= stages;
}

}  // namespace

std::string RunState::text() const {
  return kind == Kind::missing ? "missing" : kind == Kind::begun ? "begun" : kind == Kind::done ? "done" : "failed";
}

RunState state_of(const std::string& directory) {
  RunState state;
  if (!fs::exists(fs::path(directory) / run_files::deck) && !fs::exists(fs::path(directory) / outcome_file))
    return state;
  const deck::Node outcome = yaml_in(directory, outcome_file);
  state.seconds = parse_number(outcome["seconds"].text()).value_or(0.0);
  if (all_stages_done(directory)) {
    state.kind = RunState::Kind::done;
  } else if (outcome["state"].text() == "failed") {
    state.kind = RunState::Kind::failed;
    state.code = static_cast<int>(parse_number(outcome["code"].text()).value_or(70));
    state.reason = outcome["reason"].text();
  } else {
    state.kind = RunState::Kind::begun;
  }
  return state;
}

void store_state(const std::string& directory, const RunState& state) {
  using deck::Node;
  std::error_code ignored;
  fs::create_directories(directory, ignored);
  const Node map = Node::map({{"state", Node::scalar(state.text())},
                              {"code", Node::scalar(std::to_string(state.code))},
                              {"seconds", Node::scalar(fmt::format("{:.3f}", state.seconds))},
                              {"reason", Node::scalar(state.reason, true)}});
  io::write_file_atomically((fs::path(directory) / outcome_file).string(), deck::to_yaml(map));
}

}  // namespace cambium

#pragma once
// The models, references and labelled data that tests/plugins/deepmd/oracle/deep_potential.py makes, once per process.
#include "tests/plugins/deepmd/deep_potential_samples.hpp"

namespace cambium::deepmd::test {

/// The folder; empty (said on stdout) where there is no Python with what the script needs.
inline const std::string& oracle_folder() {
  static const Scratch scratch("deep_potential_oracle");
  static const std::string folder = run_oracle(scratch.folder.string()) ? scratch.folder.string() : "";
  return folder;
}

inline nlohmann::json oracle_cases() { return nlohmann::json::parse(std::ifstream(oracle_folder() + "/cases.json")); }

}  // namespace cambium::deepmd::test

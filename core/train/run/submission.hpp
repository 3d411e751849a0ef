#pragma once
#include <string>

#include "core/deck/describe.hpp"
#include "core/train/run/mllog.hpp"

namespace cambium::train {

/// Log entries about submitter, system and benchmark, as required by the rules of MLPerf HPC.
struct Submission {
  std::string benchmark = "other", organisation, platform, division = "open", status = "research";
  int nodes = 1, accelerators_per_node = 0;
  bool caches_cleared = false;
  static void describe(deck::Describe<Submission>& d);
  void log(MlLog& log) const;
};

}  // namespace cambium::train

#pragma once
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/parallel/context.hpp"
#include "plugins/graph/molecules/made_up.hpp"
#include "plugins/graph/molecules/sample.hpp"

namespace cambium::graph::testing {

struct World {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

inline MadeUp recipe(std::int64_t molecules, std::int64_t fewest = 3, std::int64_t most = 8) {
  MadeUp out;
  out.molecules = molecules;
  out.atoms = {fewest, most};
  out.seed = 7;
  return out;
}

/// The table's molecules as samples, numbered from 0; the table keeps them.
inline std::vector<train::SamplePtr> samples_of(const MoleculeTable& table) {
  std::vector<train::SamplePtr> out;
  for (const auto& m : table.molecules) out.push_back(molecule_sample(m, table, std::ssize(out)));
  return out;
}

inline std::vector<MoleculeView> views_of(const std::vector<train::SamplePtr>& samples) {
  std::vector<MoleculeView> out;
  for (const auto& sample : samples) out.push_back(molecule_of(*sample));
  return out;
}

/// A data set in memory.
struct HeldSet : train::Dataset {
  MoleculeTable table;
  std::vector<train::SamplePtr> samples;
  explicit HeldSet(MoleculeTable t) : table(std::move(t)), samples(samples_of(table)) {}
  void open(Context&) override {}
  std::int64_t size() const override { return std::ssize(samples); }
  std::vector<train::FieldInfo> fields() const override { return molecule_fields(table); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override {
    std::vector<train::SamplePtr> out;
    for (const auto id : ids) out.push_back(samples[id]);
    return out;
  }
};

/// The file with gdb1k; empty, with a reason printed, where there is none.
inline std::string gdb1k_file() {
  const char* data = std::getenv("CAMBIUM_DATA");
  const std::string path = data ? std::string(data) + "/graphs/molecules.h5" : "";
  if (!path.empty() && std::filesystem::exists(path)) return path;
  std::printf("SKIPPED: molecules of GDB-13: CAMBIUM_DATA names no folder with graphs/molecules.h5\n");
  return "";
}

}  // namespace cambium::graph::testing

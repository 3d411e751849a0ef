#pragma once
#include <optional>

#include "plugins/graph/molecules/made_up.hpp"
#include "plugins/graph/molecules/sample.hpp"

namespace cambium::graph {

/// Molecules with energies, read from a file or synthetic: all of them, or those inside or outside one fold. The full
/// set is held in memory.
class Molecules : public train::Dataset {
 public:
  enum class Part { training, test };
  struct Params {
    std::string file, group;
    std::optional<MadeUp> made_up;
    std::string energy, force;
    std::optional<std::string> energy_unit;
    std::optional<std::int64_t> fold;
    Part part = Part::training;
    std::int64_t folds = 5;
    static void describe(deck::Describe<Params>& d);
  };
  Molecules(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return std::ssize(samples_); }
  std::vector<train::FieldInfo> fields() const override { return fields_; }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

 private:
  MoleculeTable table() const;
  std::string source() const { return params_.made_up ? "synthetic molecules" : "'" + params_.file + "'"; }
  std::vector<bool> chosen(const MoleculeTable& table) const;

  Params params_;
  std::vector<train::FieldInfo> fields_;
  std::vector<train::SamplePtr> samples_;
};

}  // namespace cambium::graph

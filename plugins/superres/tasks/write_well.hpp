#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Stage `write_well`: runs of rayleigh_benard in the layout of The Well's rayleigh_benard (Ohana et al. 2024), one
/// file data/SPLIT/rayleigh_benard_Rayleigh_RA_Prandtl_PR.hdf5 for each split, under the stage's folder, as its loaders
/// expect. There b is 1 below and 0 above, and p includes the pressure of that shift.
class WriteWell : public Task {
 public:
  struct Params {
    std::vector<std::string> train, valid, test;
    double rayleigh = 0.0;
    std::optional<double> prandtl;
    std::optional<std::array<int, 2>> points;
    int frames = 0;
    static void describe(deck::Describe<Params>& d);
  };
  WriteWell(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context& context) override;
  Work work() const override { return work_; }
  std::vector<std::string> files() const override;
  std::vector<Citation> citations() const override;

 private:
  struct Split {
    const char* name;
    const std::vector<std::string>* runs;
  };
  std::vector<Split> splits() const;
  /// With * for a Prandtl number that is still to be taken from the runs.
  std::string file_of(const char* split) const;
  /// That of the deck or of the runs, or 1 if neither states it. KeyError if these differ.
  double common_prandtl() const;
  std::vector<FieldData> read(const Split& split) const;
  FieldData placed(FieldData data) const;
  void write(const std::string& path, const std::vector<FieldData>& runs, const Context& context) const;

  Params params_;
  Work work_;
};

}  // namespace cambium::superres

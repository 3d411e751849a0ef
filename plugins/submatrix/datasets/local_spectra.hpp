#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::submatrix {

/// Files of the stage local_spectra, one sample for each Hamiltonian: fields moments (block columns x count),
/// band_energy (block columns, hartree), levels (highest occupied, lowest empty; hartree), window (2, hartree) and
/// functions (1). All in memory.
class SpectraSet : public train::Dataset {
 public:
  struct Params {
    std::vector<std::string> files;
    static void describe(deck::Describe<Params>& d);
  };
  SpectraSet(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return std::ssize(samples_); }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::int64_t bytes_read() const override { return bytes_; }

 private:
  Params params_;
  std::int64_t count_ = 0, bytes_ = 0;
  std::vector<train::SamplePtr> samples_;
};

}  // namespace cambium::submatrix

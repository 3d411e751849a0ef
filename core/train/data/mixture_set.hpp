#pragma once
#include <memory>
#include <vector>

#include "core/deck/choice.hpp"
#include "core/deck/describe.hpp"
#include "core/train/kinds/has_conditions.hpp"

namespace cambium::train {

/// Mixture of several data sets with given fractions. Set k contributes n_k consecutive samples; its own samples are
/// repeated cyclically, so offset i is its sample i modulo its size. The sample's id is its index in the mixture.
class MixtureSet : public Dataset, public HasConditions {
 public:
  struct Part {
    deck::Choice<Dataset> dataset;
    double weight = 1.0;
    static void describe(deck::Describe<Part>& d);
  };
  struct Params {
    std::vector<Part> sets;
    std::optional<std::int64_t> samples;
    static void describe(deck::Describe<Params>& d);
  };
  MixtureSet(const Params& params, Context& context);

  /// KeyError when the sets differ in the names, units or types of their fields, or one of them is empty.
  void open(Context&) override;
  std::int64_t size() const override { return first_.empty() ? 0 : first_.back(); }
  std::vector<FieldInfo> fields() const override;
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::pair<std::int64_t, std::int64_t> chunk_of(std::int64_t id) const override;
  std::int64_t first_copy(std::int64_t id) const override;
  std::int64_t next_copy(std::int64_t id) const override;
  SamplePtr copy_of(const SamplePtr& sample, std::int64_t id) const override;
  bool repeats() const override;
  /// Files, if a set reads files.
  Origin origin() const override;
  bool plain() const override;
  std::int64_t most_packed_bytes() const override;
  std::int64_t bytes_read() const override;
  std::vector<Citation> citations() const override;
  std::vector<Condition> conditions() const override;

 private:
  std::size_t set_of(std::int64_t id) const;

  Params params_;
  std::vector<std::unique_ptr<Dataset>> sets_;
  std::vector<std::int64_t> first_;  ///< index of each set's first sample, and the end; empty before open()
};

/// Number of `samples` of each part: proportional to the weights, with the largest remainders rounded up. Without
/// `samples`, enough that each sample of each set occurs at least once.
std::vector<std::int64_t> counts_of_mixture(std::span<const double> weights, std::span<const std::int64_t> sizes,
                                            std::optional<std::int64_t> samples);

}  // namespace cambium::train

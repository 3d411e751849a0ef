#pragma once
#include <memory>
#include <vector>

#include "core/deck/choice.hpp"
#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Samples of several data sets in given shares. Set k has n_k of the samples, which lie one after the other; its own
/// sample j stands at each of its numbers that leave j when divided by its size. A number is the sample's id.
class MixtureSet : public Dataset {
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
  std::int64_t bytes_read() const override;
  std::vector<Citation> citations() const override;
  /// Some sample stands at several numbers.
  bool repeats() const;

 private:
  std::size_t set_of(std::int64_t id) const;

  Params params_;
  std::vector<std::unique_ptr<Dataset>> sets_;
  std::vector<std::int64_t> first_;  ///< number of each set's first sample, and the end; none before open()
};

/// How many of `samples` each part has: the shares of the weights, the largest remainders rounded up. Without a number
/// so many that each sample of each set is there at least once.
std::vector<std::int64_t> counts_of_mixture(std::span<const double> weights, std::span<const std::int64_t> sizes,
                                            std::optional<std::int64_t> samples);

}  // namespace cambium::train

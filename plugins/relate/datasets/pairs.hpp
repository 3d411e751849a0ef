#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/relate/datasets/pair_records.hpp"

namespace cambium::relate {

/// Pairs of a compound and a target with a measured value, from a file or synthetic; the samples are the training,
/// validation or test split. All are held in memory.
class Pairs : public train::Dataset {
 public:
  struct Made : MadePairs {
    static void describe(deck::Describe<Made>& d);
  };
  struct Folds : FoldKeys {
    static void describe(deck::Describe<Folds>& d);
  };
  struct Params : PairTextKeys {
    std::string file, unit;
    std::optional<Made> made_up;
    Folds folds;
    Role part = Role::training;
    std::int64_t radius = 2, pieces = 4096, letters = 3;
    static void describe(deck::Describe<Params>& d);
  };
  Pairs(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return records_ ? records_->size() : 0; }
  std::vector<train::FieldInfo> fields() const override { return fields_of(*records_); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

  /// All pairs, and the role of each; once open.
  const PairTable& table() const { return *table_; }
  const std::vector<Role>& roles() const { return roles_; }
  /// The same pairs with samples of another split; once open.
  Pairs of_part(Role part) const;

 private:
  std::shared_ptr<const PairTable> read_table() const;
  void keep_part();

  Params params_;
  std::shared_ptr<const PairTable> table_;
  std::vector<Role> roles_;
  RecordPtr records_;
};

}  // namespace cambium::relate

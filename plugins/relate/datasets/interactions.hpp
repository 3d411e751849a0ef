#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/relate/datasets/choice_table.hpp"

namespace cambium::relate {

/// User-item interactions and negative samples as records with binary labels, from a file or synthetic. All are held in
/// memory.
class InteractionSet : public train::Dataset {
 public:
  struct Made : MadeChoices {
    static void describe(deck::Describe<Made>& d);
  };
  struct Params {
    std::string file;
    std::optional<Made> made_up;
    Role part = Role::training;
    bool join_validation = false;
    std::int64_t others = 4, seed = 1;
    static void describe(deck::Describe<Params>& d);
  };
  InteractionSet(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return records_ ? records_->size() : 0; }
  std::vector<train::FieldInfo> fields() const override { return fields_of(*records_); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

  /// All interactions; once open.
  const std::shared_ptr<const ChoiceTable>& table() const { return table_; }
  Role part() const { return params_.part; }

 private:
  Params params_;
  std::shared_ptr<const ChoiceTable> table_;
  RecordPtr records_;
};

}  // namespace cambium::relate

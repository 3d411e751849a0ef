#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/relate/datasets/click_file.hpp"

namespace cambium::relate {

/// Records of clicks, or of any other binary label, from a file or synthetic. All are held in memory.
class Clicks : public train::Dataset {
 public:
  struct Made : MadeClicks {
    static void describe(deck::Describe<Made>& d);
  };
  struct Params {
    std::string file, group, vocabulary, vocabulary_file;
    std::int64_t least = 2;
    std::vector<std::int64_t> rows;
    bool logarithm = true;
    std::optional<Made> made_up;
    static void describe(deck::Describe<Params>& d);
  };
  Clicks(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return records_ ? records_->size() : 0; }
  std::vector<train::FieldInfo> fields() const override { return fields_of(*records_); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

 private:
  Params params_;
  RecordPtr records_;
};

}  // namespace cambium::relate

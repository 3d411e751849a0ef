#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/relate/datasets/click_file.hpp"

namespace cambium::relate {

/// Records of clicks, or of any other binary label, from a text, an HDF5 file or synthetic. Every rank holds all in
/// memory.
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
    std::string delimiter = "auto", label;
    train::CsvForm::Decimal decimal = train::CsvForm::Decimal::found;
    std::optional<bool> header;
    std::vector<std::string> dense, categorical;
    RecordRange range;
    std::optional<Made> made_up;
    static void describe(deck::Describe<Params>& d);
  };
  Clicks(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return records_ ? records_->size() : 0; }
  std::vector<train::FieldInfo> fields() const override { return fields_of(*records_); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

 private:
  ClickFile file_keys() const;
  void report(Context& context) const;

  Params params_;
  RecordPtr records_;
};

}  // namespace cambium::relate

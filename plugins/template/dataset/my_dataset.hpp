#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::my_dataset {

/// Rows of a text table as samples: a header line of names, then values, separated by blanks; lines that begin with #
/// are ignored. The fields are `input`, the columns named by the deck in its order, and `target`, one column.
class MyDataset : public train::Dataset {
 public:
  /// Keys of the deck. This declaration is also their validation, their documentation and their JSON schema.
  struct Params {
    std::string file;
    std::vector<std::string> input;
    std::string target;
    static void describe(deck::Describe<Params>& d);
  };
  MyDataset(const Params& params, Context&) : params_(params) {}

  void open(Context&) override;
  std::int64_t size() const override { return rows_ ? std::ssize(*rows_) / width() : 0; }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

 private:
  std::int64_t width() const { return std::ssize(params_.input) + 1; }

  Params params_;
  std::shared_ptr<std::vector<double>> rows_;  ///< inputs, then the target, of each sample
};

}  // namespace cambium::my_dataset

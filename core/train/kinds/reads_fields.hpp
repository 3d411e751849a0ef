#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace cambium::train {

/// Interface of a network that needs fewer fields for inference than for training, since labels are not inputs; in
/// addition to Network. Networks without it require all training fields except the labels listed in
/// NetworkTraits::spared_labels.
class ReadsFields {
 public:
  virtual ~ReadsFields() = default;
  /// Names of the fields that infer() reads; valid after restore().
  virtual std::vector<std::string> fields_to_infer() const = 0;
  /// Names of the fields that training and evaluation read, labels included; valid after fit_statistics() or restore().
  /// Empty: all fields of the data. Model files describe no others, so identifiers beside them are not required later.
  virtual std::vector<std::string> fields_to_train() const { return {}; }
  /// The field whose first axis has the length of the variable (-1) axis of outputs(); empty if there is none.
  virtual std::string rows_field() const { return {}; }
};

/// True if the network reads the field `name` as an input of one shape, so that the order of its axes matters.
inline bool reads_in_order(const ReadsFields* network, const std::string& name) {
  const auto read = network ? network->fields_to_infer() : std::vector<std::string>();
  return std::find(read.begin(), read.end(), name) != read.end();
}

/// True if training or evaluation reads the field `name`; `network` is NetworkTraits::fields, null for all fields.
inline bool reads_in_training(const ReadsFields* network, const std::string& name) {
  const auto read = network ? network->fields_to_train() : std::vector<std::string>();
  return read.empty() || std::find(read.begin(), read.end(), name) != read.end();
}

}  // namespace cambium::train

#pragma once
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
  /// The field whose first axis has the length of the variable (-1) axis of outputs(); empty if there is none.
  virtual std::string rows_field() const { return {}; }
};

}  // namespace cambium::train

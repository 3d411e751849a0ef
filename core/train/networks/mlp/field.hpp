#pragma once
#include <fmt/ranges.h>

#include <ranges>

#include "core/base/error.hpp"
#include "core/train/data/numbers.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Returns one field of a sample; InputError if it is missing.
inline const TensorRef& field_of(const Sample& sample, const std::string& name) {
  const auto found = sample.fields.find(name);
  if (found == sample.fields.end())
    throw InputError(fmt::format("sample {} has no field '{}'; it has: {}", sample.id, name,
                                 fmt::join(std::views::keys(sample.fields), ", ")));
  return found->second;
}

/// The `width` values of a field; InputError if it has a different size.
template <class Out>
void read_field(const Sample& sample, const std::string& name, std::span<Out> out) {
  const TensorRef& field = field_of(sample, name);
  if (field.elements() != std::ssize(out))
    throw InputError(
        fmt::format("sample {}: field '{}' has {} values, but the model was made for {}; give it samples like those it "
                    "was trained on",
                    sample.id, name, field.elements(), out.size()));
  copy_numbers(field, out);
}

/// All values of a contiguous array of any type.
template <class Out>
void read_numbers(const TensorRef& tensor, Out* out) {
  copy_numbers(tensor, std::span<Out>(out, static_cast<std::size_t>(tensor.elements())));
}

}  // namespace cambium::train

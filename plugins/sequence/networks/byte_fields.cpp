#include "plugins/sequence/networks/byte_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/train/networks/mlp/field.hpp"

namespace cambium::sequence {

std::vector<std::uint8_t> bytes_in(std::span<const train::SamplePtr> samples, const std::string& name,
                                   std::int64_t length) {
  std::vector<std::uint8_t> out(samples.size() * static_cast<std::size_t>(length));
  std::vector<double> row(static_cast<std::size_t>(length));
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto& field = field_of(*samples[s], name);
    if (field.elements() != length)
      throw InputError(fmt::format("sample {}: field '{}' has {} bytes, the model reads {}", samples[s]->id, name,
                                   field.elements(), length));
    train::read_numbers(field, row.data());
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (row[k] != std::floor(row[k]) || row[k] < 0.0 || row[k] > 255.0)
        throw InputError(fmt::format("sample {}: '{}' must hold bytes, whole numbers from 0 to 255, but holds {}",
                                     samples[s]->id, name, row[k]));
      out[s * row.size() + k] = static_cast<std::uint8_t>(row[k]);
    }
  }
  return out;
}

std::vector<double> marks_in(std::span<const train::SamplePtr> samples, const std::string& name,
                             std::int64_t predicted) {
  const auto each = static_cast<std::size_t>(predicted);
  std::vector<double> out(samples.size() * each);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto& field = field_of(*samples[s], name);
    const auto marks = std::span(out).subspan(s * each, each);
    if (field.elements() != predicted)
      throw InputError(fmt::format("sample {}: field '{}' marks {} bytes, but the model predicts {}, all but the first",
                                   samples[s]->id, name, field.elements(), predicted));
    train::read_numbers(field, marks.data());
    const auto wrong = std::find_if(marks.begin(), marks.end(), [](double x) { return x != 0.0 && x != 1.0; });
    if (wrong != marks.end())
      throw InputError(fmt::format("sample {}: '{}' must be 1 for an answer and 0 elsewhere, but holds {}",
                                   samples[s]->id, name, *wrong));
    if (std::count(marks.begin(), marks.end(), 1.0) == 0)
      throw InputError(fmt::format("sample {}: '{}' marks no byte; every text needs an answer", samples[s]->id, name));
  }
  return out;
}

}  // namespace cambium::sequence

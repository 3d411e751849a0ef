#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"

namespace cambium::sequence {

/// The bytes of the field `name` of all samples, samples x `length`. InputError for another length, and for numbers
/// that are not whole or not from 0 to 255.
std::vector<std::uint8_t> bytes_in(std::span<const train::SamplePtr> samples, const std::string& name,
                                   std::int64_t length);

/// Marks of answers in the field `name` of all samples, samples x `predicted`, 1 for an answer and 0 elsewhere.
/// InputError for another length, other numbers, and samples without an answer.
std::vector<double> marks_in(std::span<const train::SamplePtr> samples, const std::string& name,
                             std::int64_t predicted);

}  // namespace cambium::sequence

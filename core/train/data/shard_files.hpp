#pragma once
#include <span>
#include <string>
#include <vector>

namespace cambium::train {

/// Files named in a deck, in order: a name is kept, a pattern ("train_*.h5") is replaced by its matches in natural sort
/// order (part_2 before part_10). InputError if a pattern matches nothing, if a number is missing between its first and
/// last file, or if a file is named twice.
std::vector<std::string> shard_files(std::span<const std::string> names);

}  // namespace cambium::train

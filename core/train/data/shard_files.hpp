#pragma once
#include <span>
#include <string>
#include <vector>

namespace cambium::train {

/// The files that a deck names, in order: a name stays where it is, a pattern ("train_*.h5") becomes the files that
/// match it (numbers in names count as numbers: part_2 comes before part_10). InputError when a pattern matches nothing
/// or a number is missing between the first and the last file of a pattern.
std::vector<std::string> shard_files(std::span<const std::string> names);

}  // namespace cambium::train

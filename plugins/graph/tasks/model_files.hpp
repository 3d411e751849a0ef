#pragma once
#include <string>
#include <vector>

namespace cambium::graph {

/// Files that a path with * in any of its parts names, sorted; the path itself where it has none. InputError for none.
std::vector<std::string> files_of(const std::string& path);

/// The folder that tells models of a deck from each other: the last one of a path without a *.
std::string stage_of(const std::string& path);

/// Mean and standard deviation of figures of several networks.
double mean(const std::vector<double>& values);
double deviation(const std::vector<double>& values);

}  // namespace cambium::graph

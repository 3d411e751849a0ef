#pragma once
#include <string>
#include <vector>

namespace cambium::graph {

/// Files that match a path, which may have * in any component, sorted; the path itself if it has none. InputError if
/// there is no match.
std::vector<std::string> files_of(const std::string& path);

/// The folder that distinguishes the models of a deck: the last path component without a *.
std::string stage_of(const std::string& path);

/// Mean and standard deviation of a metric over several networks.
double mean(const std::vector<double>& values);
double deviation(const std::vector<double>& values);

}  // namespace cambium::graph

#pragma once
#include <optional>
#include <string>

#include "plugins/pretrain/features/encode.hpp"
#include "plugins/pretrain/features/table.hpp"

namespace cambium::pretrain {

/// One way to compare: rows whose cosines say how alike two samples are.
struct Method {
  std::string name;
  Matrix archive, queries;
};

/// The encoder's vectors, where there are any, and those ways that need no training: pixels, pixels minus the mean over
/// simulations at each moment (over all samples where there are none), the same in units of what changes between
/// successive moments of a run (where runs have some), 64 principal components, a physicist's numbers.
/// What is fitted is fitted to the archive. Fields are taken in units of each channel's deviation over the archive.
std::vector<Method> methods_for(const Table& archive, const Table& queries, const Matrix& archive_vectors,
                                const Matrix& query_vectors);

/// The same for the search of a partner among all partners: the encoder, and canonical correlations fitted to the pairs
/// of `training` (rows longer than 400 numbers as that many principal components), and where both sides are fields of
/// one shape, their pixels as they are and minus their means.
std::vector<Method> methods_for_partners(const Table& training, const Table& queries, const Matrix& partner_vectors,
                                         const Matrix& query_vectors);

/// For the search by parameters: rows of the archive's fields, and of each asked combination: the encoder's, canonical
/// correlations of fields and parameters, and a smooth fit of fields (64 principal components) to parameters. What is
/// fitted is fitted to the archive, whose runs' parameters are known.
std::vector<Method> methods_for_parameters(const Table& archive, const Matrix& asked, const Matrix& archive_vectors,
                                           const Matrix& asked_vectors);

}  // namespace cambium::pretrain

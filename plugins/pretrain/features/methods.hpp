#pragma once
#include <optional>
#include <string>

#include "plugins/pretrain/features/encode.hpp"
#include "plugins/pretrain/features/table.hpp"

namespace cambium::pretrain {

/// A method of comparison: rows whose cosines are the similarities of samples.
struct Method {
  std::string name;
  Matrix archive, queries;
};

/// The encoder's vectors, if any, and methods without training: pixels, pixels minus the mean over simulations at each
/// time (over all samples if there are none), the same in units of the changes between successive snapshots of a run
/// (if runs have several), 64 principal components, physical features. Fits use the archive. Fields are in units of
/// each channel's standard deviation over the archive.
std::vector<Method> methods_for(const Table& archive, const Table& queries, const Matrix& archive_vectors,
                                const Matrix& query_vectors);

/// The same for retrieval of a positive among all: the encoder, canonical correlations fitted to the pairs of
/// `training` (rows longer than 400 values reduced to that many principal components), and, if both sides are fields of
/// one shape, their pixels, unchanged and minus their means.
std::vector<Method> methods_for_partners(const Table& training, const Table& queries, const Matrix& partner_vectors,
                                         const Matrix& query_vectors);

/// For the search by parameters: rows of the archive's fields, and of each query combination: the encoder's, canonical
/// correlations of fields and parameters, and a smooth fit of fields (64 principal components) to parameters. Fits use
/// the archive, whose runs' parameters must be known.
std::vector<Method> methods_for_parameters(const Table& archive, const Matrix& asked, const Matrix& archive_vectors,
                                           const Matrix& asked_vectors);

}  // namespace cambium::pretrain

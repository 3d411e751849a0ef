#pragma once
#include <span>
#include <vector>

#include "core/base/log.hpp"
#include "core/train/networks/mlp/mlp.hpp"

namespace cambium::train {

/// Scaled inputs of the samples: rows x inputs.
template <class T>
std::vector<T> scaled_inputs(std::span<const SamplePtr> samples, const Mlp::Params& params,
                             const Mlp::Scaling& scaling);

/// The same into existing memory.
template <class T>
void write_scaled_inputs(std::span<const SamplePtr> samples, const Mlp::Params& params, const Mlp::Scaling& scaling,
                         T* out);

/// Targets: scaled values, rows x outputs, or one class per row.
template <class T>
void write_targets(std::span<const SamplePtr> samples, const Mlp::Params& params, const Mlp::Scaling& scaling, T* out);

/// Derivative by the outputs (rows x outputs) of the loss summed over samples, times `weight`; adds the loss to `term`.
template <class T>
std::vector<T> loss_by_output(std::span<const SamplePtr> samples, const std::vector<T>& outputs,
                              const Mlp::Params& params, const Mlp::Scaling& scaling, double weight, TermSum& term);

/// Class index of a sample; InputError if it is invalid.
std::int64_t class_of(const Sample& sample, const std::string& field, std::int64_t classes);

/// One more than the largest class of all samples, since a rare class may occur anywhere; InputError below two classes.
/// Warns about classes without samples, including labels that count from 1.
std::int64_t classes_in(Dataset& training, const std::string& field, Log& log);

/// Softmax of one row, in float64.
template <class T>
std::vector<double> softmax(std::span<const T> row);

}  // namespace cambium::train

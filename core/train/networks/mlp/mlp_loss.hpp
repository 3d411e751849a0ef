#pragma once
#include <span>
#include <vector>

#include "core/base/log.hpp"
#include "core/train/networks/mlp/mlp.hpp"

namespace cambium::train {

/// Inputs of the samples, scaled: rows x inputs.
template <class T>
std::vector<T> scaled_inputs(std::span<const SamplePtr> samples, const Mlp::Params& params,
                             const Mlp::Scaling& scaling);

/// The same to where it is wanted; no memory is made for it.
template <class T>
void write_scaled_inputs(std::span<const SamplePtr> samples, const Mlp::Params& params, const Mlp::Scaling& scaling,
                         T* out);

/// Requested outputs: scaled targets, rows x outputs, or of each row its class.
template <class T>
void write_targets(std::span<const SamplePtr> samples, const Mlp::Params& params, const Mlp::Scaling& scaling, T* out);

/// Derivative of the sum over samples of the loss by the outputs (rows x outputs), times `weight`; the loss is added to
/// `term`.
template <class T>
std::vector<T> loss_by_output(std::span<const SamplePtr> samples, const std::vector<T>& outputs,
                              const Mlp::Params& params, const Mlp::Scaling& scaling, double weight, TermSum& term);

/// Number of a sample's class; InputError when it is none.
std::int64_t class_of(const Sample& sample, const std::string& field, std::int64_t classes);

/// One more than the largest class of all samples, since a rare one may stand anywhere; InputError below two classes.
/// Classes that no sample has are said, labels that count from 1 among them.
std::int64_t classes_in(Dataset& training, const std::string& field, Log& log);

/// Softmax of one row, in float64.
template <class T>
std::vector<double> softmax(std::span<const T> row);

}  // namespace cambium::train

#pragma once
#include <vector>

#include "core/parallel/farm/farm_messages.hpp"
#include "core/train/tune/search.hpp"

namespace cambium::tune {

// Serialisation of trials and outcomes for a task farm.

/// Genome and thresholds of a job.
std::vector<std::byte> bytes_of(const Job& job);
Job job_of(const tasks::Piece& piece);

tasks::PieceResult result_of(const Outcome& outcome);
/// A failure without a value (of a hung rank) is an outcome, too.
Outcome outcome_of(const tasks::PieceResult& result);

}  // namespace cambium::tune

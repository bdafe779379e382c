//===- Search.h - The fastest of many plans ---------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Which plan is measured next, how often, and which one wins. Plans are texts
// here, and how they are estimated and timed, and what time it is, are
// functions: what is found depends on these alone.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_TUNING_SEARCH_H
#define KRON_MAPPING_TUNING_SEARCH_H

#include "llvm/ADT/StringRef.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mlir::kron {

/// What is searched.
struct SearchProblem {
  /// Where the search begins: the plan that is chosen without it comes first.
  std::vector<std::string> candidates;
  /// Plans that were the fastest once: all of them are tried, first.
  std::vector<std::string> known;
  /// Plans that differ from `plan` in one field, a list for each field.
  std::function<std::vector<std::vector<std::string>>(const std::string &plan)>
      getNeighbours;
  /// The estimated time of a plan, by which those of `candidates` and of one
  /// field are ordered.
  std::function<double(const std::string &plan)> estimate;
  /// Told which plans will be timed next, in this order unless the leader
  /// changes, instead of those that were told before.
  std::function<void(const std::vector<std::string> &plans)> expect =
      [](const std::vector<std::string> &) {};
  /// Seconds of one run; none for a plan that cannot be run or is wrong.
  std::function<std::optional<double>(const std::string &plan)> time;
  /// The same of a run that finds in the caches what fits there, in which a
  /// winner must not be slower than the default, either. Null: the same as the
  /// other runs.
  std::function<std::optional<double>(const std::string &plan)> timeInCaches;
  /// Seconds since some moment.
  std::function<double()> now;
  /// Whether to end with what has been found.
  std::function<bool()> isStopped = [] { return false; };
  /// Told of each comparison: the plan, whether it is faster, and the leader.
  std::function<void(const std::string &plan, bool wins,
                     const std::string &leader)>
      report = [](const std::string &, bool, const std::string &) {};
};

struct SearchOptions {
  /// When to end. A comparison that was begun is ended.
  double seconds = 10;
  /// Candidates that are measured, those with the least estimates.
  unsigned numCandidates = 16;
  /// Plans of fields that are told of before their turn comes, but for those of
  /// the same field as one of them.
  unsigned numExpected = 32;
  /// Times that all fields are gone through, at most; a round in which nothing
  /// wins is the last one.
  unsigned numRounds = 2;
  /// Pairs of runs of a comparison: those before which it does not end, and
  /// those at which it ends undecided, which leaves the leader.
  unsigned leastPairs = 5, mostPairs = 40;
  /// Standard errors that a difference has to be larger than.
  double confidence = 3;
  /// A comparison ends, too, where a plan cannot be faster than the leader by
  /// more than that.
  double negligible = 0.01;
};

/// What was measured of a plan.
struct Measurement {
  std::string plan;
  double estimate = 0;
  /// The median.
  double seconds = 0;
};

struct SearchResult {
  /// The winner: the default unless another one is faster.
  std::string plan;
  /// Medians of the last comparison of both, and half the width of the
  /// confidence interval of their quotient.
  double seconds = 0, defaultSeconds = 0, spread = 0;
  /// The default first.
  std::vector<Measurement> measurements;
  /// Plans that could not be run.
  unsigned numRefused = 0;
  /// Whether time was up, or `isStopped`, before all was tried.
  bool isCutOff = false;
};

/// Finds the plan with the least time: of the candidates with the least
/// estimates, then of those that differ from the leader in a field, field by
/// field. Each is compared with the leader, runs of both by turns, until the
/// confidence interval of the quotient of their times does not have 1, and
/// leads if it is faster, and no slower in the caches. The last leader is
/// compared with the default once more, with other runs, as many as there may
/// be; where it is not faster there, or is slower in the caches, the one before
/// takes its place, as long as there is time. None if the default cannot be
/// run.
std::optional<SearchResult> search(const SearchProblem &problem,
                                   const SearchOptions &options);

} // namespace mlir::kron

#endif // KRON_MAPPING_TUNING_SEARCH_H

//===- Search.cpp - The fastest of many plans -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Times of one plan have a long tail: other programs only take time away. Hence
// quotients of neighbouring runs, which slow phases leave as they are, and of
// these the logarithms, of which the outermost are cut to the next ones.
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/Tuning/Search.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir::kron;

namespace {
/// Runs of two plans by turns.
struct Comparison {
  std::vector<double> times, otherTimes;
  /// Of the logarithm of time over other time: mean, and the standard errors
  /// that it may be off.
  double mean = 0, bound = 0;
  /// Whether the plan could be run.
  bool isValid = true;

  bool isFaster() const { return isValid && mean + bound < 0; }
};

using TimeFunction = std::function<std::optional<double>(const std::string &)>;

class Searcher {
public:
  Searcher(const SearchProblem &problem, const SearchOptions &options)
      : problem(problem), options(options), begin(problem.now()) {}

  std::optional<SearchResult> run();

private:
  bool isOver() {
    bool isOver =
        problem.isStopped() || problem.now() - begin >= options.seconds;
    result.isCutOff |= isOver;
    return isOver;
  }
  void descend();
  /// Tells of `plans`, but for those that are not timed again.
  void expect(std::vector<std::string> plans) {
    llvm::erase_if(
        plans, [&](const std::string &plan) { return tried.contains(plan); });
    problem.expect(plans);
  }
  /// Compares `plan`, unless that was done before, with the leader, which it
  /// becomes if it is faster.
  bool challenge(const std::string &plan);
  /// Runs of both as `time` has them; `leastPairs`: those before which it does
  /// not end.
  Comparison compare(const std::string &plan, const std::string &other,
                     unsigned leastPairs, const TimeFunction &time);
  bool isSlowerInCaches(const std::string &plan, const std::string &other,
                        unsigned leastPairs);
  /// Whether `plan` is faster than the default in runs of its own, and no
  /// slower in the caches. It is the result then.
  bool holds(const std::string &plan);
  std::vector<std::string> order(std::vector<std::string> plans);

  const SearchProblem &problem;
  const SearchOptions &options;
  double begin;
  /// The default and all leaders since.
  std::vector<std::string> leaders;
  llvm::StringSet<> tried;
  SearchResult result;
};
} // namespace

static double getMedian(std::vector<double> values) {
  llvm::sort(values);
  return values[values.size() / 2];
}

/// Mean of the logarithms of `a` over `b`, pair by pair, of which the smallest
/// and the largest eighth count as the next one; and what it may be off at a
/// `confidence` in standard errors of a normal distribution.
static std::pair<double, double> getMean(const std::vector<double> &a,
                                         const std::vector<double> &b,
                                         double confidence) {
  std::vector<double> logs;
  for (auto [time, other] : llvm::zip(a, b))
    logs.push_back(std::log(time / other));
  llvm::sort(logs);
  size_t count = logs.size(), cut = count / 8;
  for (size_t i = 0; i < cut; ++i) {
    logs[i] = logs[cut];
    logs[count - 1 - i] = logs[count - 1 - cut];
  }
  double sum = 0, squares = 0;
  for (double value : logs)
    sum += value;
  double mean = sum / count;
  for (double value : logs)
    squares += (value - mean) * (value - mean);
  // Of what is left, since values that were cut vary less than they did.
  double degrees = std::max<double>(1, count - 1.0 - 2 * cut);
  // Student's quantile, to the first order: few pairs are similar by chance.
  double quantile =
      confidence * (1 + (confidence * confidence + 1) / (4 * degrees));
  return {mean, quantile * std::sqrt(squares / degrees / count)};
}

Comparison Searcher::compare(const std::string &plan, const std::string &other,
                             unsigned leastPairs, const TimeFunction &time) {
  Comparison comparison;
  while (comparison.times.size() < options.mostPairs) {
    // Neither has what the other left in the caches each time.
    bool isFirst = comparison.times.size() % 2 == 0;
    std::optional<double> ownTime, otherTime;
    if (isFirst)
      ownTime = time(plan);
    if (!isFirst || ownTime)
      otherTime = time(other);
    if (!isFirst)
      ownTime = time(plan);
    if (!ownTime || !otherTime) {
      comparison.isValid = false;
      return comparison;
    }
    comparison.times.push_back(*ownTime);
    comparison.otherTimes.push_back(*otherTime);
    if (comparison.times.size() < leastPairs)
      continue;
    std::tie(comparison.mean, comparison.bound) =
        getMean(comparison.times, comparison.otherTimes, options.confidence);
    bool isHopeless = comparison.mean - comparison.bound > -options.negligible;
    if (comparison.isFaster() || isHopeless || problem.isStopped())
      break;
  }
  return comparison;
}

bool Searcher::challenge(const std::string &plan) {
  if (!tried.insert(plan).second)
    return false;
  std::string leader = leaders.back();
  Comparison comparison =
      compare(plan, leader, options.leastPairs, problem.time);
  if (!comparison.isValid) {
    ++result.numRefused;
    return false;
  }
  result.measurements.push_back(
      {plan, problem.estimate(plan), getMedian(comparison.times)});
  bool wins = comparison.isFaster() &&
              !isSlowerInCaches(plan, leader, options.leastPairs);
  problem.report(plan, wins, leader);
  if (wins)
    leaders.push_back(plan);
  return wins;
}

bool Searcher::isSlowerInCaches(const std::string &plan,
                                const std::string &other, unsigned leastPairs) {
  if (!problem.timeInCaches)
    return false;
  Comparison comparison =
      compare(plan, other, leastPairs, problem.timeInCaches);
  return !comparison.isValid || comparison.mean > options.negligible;
}

bool Searcher::holds(const std::string &plan) {
  const std::string &byDefault = leaders.front();
  // Ending as soon as it looks decided would make chance win more often.
  Comparison last = compare(plan, byDefault, options.mostPairs, problem.time);
  if (!last.isFaster())
    return false;
  if (isSlowerInCaches(plan, byDefault, options.mostPairs))
    return false;
  result.plan = plan;
  result.seconds = getMedian(last.times);
  result.defaultSeconds = getMedian(last.otherTimes);
  result.spread = last.bound;
  result.measurements.front().seconds = result.defaultSeconds;
  return true;
}

std::vector<std::string> Searcher::order(std::vector<std::string> plans) {
  std::vector<std::pair<double, size_t>> estimates;
  for (const std::string &plan : plans)
    estimates.emplace_back(problem.estimate(plan), estimates.size());
  // Those of equal estimates stay as they are.
  llvm::sort(estimates);
  std::vector<std::string> ordered;
  for (auto [estimate, index] : estimates)
    ordered.push_back(std::move(plans[index]));
  return ordered;
}

/// Coordinate descent from the leader.
void Searcher::descend() {
  for (unsigned round = 0; round < options.numRounds; ++round) {
    bool hasImproved = false;
    for (size_t field = 0;; ++field) {
      // The leader may have changed, and its fields with it.
      std::vector<std::vector<std::string>> moves =
          problem.getNeighbours(leaders.back());
      if (field >= moves.size())
        break;
      std::vector<std::string> plans = order(moves[field]), next = plans;
      for (const auto &others : llvm::drop_begin(moves, field + 1)) {
        // To order them takes time, and is for nothing where the leader
        // changes.
        if (next.size() >= options.numExpected)
          break;
        llvm::append_range(next, order(others));
      }
      expect(std::move(next));
      for (const std::string &plan : plans) {
        if (isOver())
          return;
        hasImproved |= challenge(plan);
      }
    }
    if (!hasImproved)
      return;
  }
}

std::optional<SearchResult> Searcher::run() {
  const std::string &byDefault = problem.candidates.front();
  leaders.push_back(byDefault);
  tried.insert(byDefault);
  // The first run is not like the others.
  std::optional<double> first = problem.time(byDefault);
  if (first)
    first = problem.time(byDefault);
  if (!first)
    return std::nullopt;
  result.measurements.push_back(
      {byDefault, problem.estimate(byDefault), *first});
  std::vector<std::string> others =
      order({problem.candidates.begin() + 1, problem.candidates.end()});
  if (others.size() > options.numCandidates)
    others.resize(options.numCandidates);
  others.insert(others.begin(), problem.known.begin(), problem.known.end());
  expect(others);
  for (const std::string &plan : others) {
    if (isOver())
      break;
    challenge(plan);
  }
  if (!isOver())
    descend();
  expect({});
  result.plan = byDefault;
  result.seconds = result.defaultSeconds = *first;
  for (size_t number = leaders.size() - 1; number > 0; --number)
    if (holds(leaders[number]) || isOver())
      break;
  return result;
}

std::optional<SearchResult> mlir::kron::search(const SearchProblem &problem,
                                               const SearchOptions &options) {
  return Searcher(problem, options).run();
}

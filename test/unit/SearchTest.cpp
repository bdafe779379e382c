//===- SearchTest.cpp - The fastest of many plans ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/Tuning/Search.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace mlir::kron;
using llvm::StringRef;

namespace {
/// Plans are two numbers, "3 5"; their times are a bowl with a planted minimum,
/// and noise. The clock shows what has been run.
class Searches : public testing::Test {
protected:
  Searches() {
    problem.candidates = {"0 0"};
    problem.estimate = [this](const std::string &plan) {
      return getTrueTime(plan);
    };
    problem.time = [this](const std::string &plan) -> std::optional<double> {
      ++numRuns;
      if (plan == refused)
        return std::nullopt;
      double time = getTrueTime(plan) * getNoise();
      clock += time;
      return time;
    };
    problem.now = [this] { return clock; };
    problem.getNeighbours = [](const std::string &plan) {
      auto [x, y] = read(plan);
      std::vector<std::vector<std::string>> fields(2);
      for (int step : {-2, -1, 1, 2}) {
        fields[0].push_back(write(x + step, y));
        fields[1].push_back(write(x, y + step));
      }
      return fields;
    };
    options.seconds = 1e9;
    options.numRounds = 10;
  }

  static std::pair<int, int> read(StringRef plan) {
    auto [first, second] = plan.split(' ');
    int x = 0, y = 0;
    first.getAsInteger(10, x);
    second.getAsInteger(10, y);
    return {x, y};
  }
  static std::string write(int x, int y) {
    return std::to_string(x) + " " + std::to_string(y);
  }
  double getTrueTime(const std::string &plan) {
    auto [x, y] = read(plan);
    return 1 + slope * (std::abs(x - bestX) + std::abs(y - bestY));
  }
  /// Other programs take time away, at times a lot.
  double getNoise() {
    if (noise == 0)
      return 1;
    double factor = 1 + noise * std::exponential_distribution<>(1)(random);
    return std::uniform_real_distribution<>(0, 1)(random) < 0.05 ? 3 * factor
                                                                 : factor;
  }

  SearchProblem problem;
  SearchOptions options;
  int bestX = 5, bestY = -3;
  double slope = 0.1, noise = 0, clock = 0;
  std::string refused;
  unsigned numRuns = 0;
  std::mt19937 random{7};
};
} // namespace

TEST_F(Searches, FindThePlantedOptimum) {
  auto result = search(problem, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->plan, "5 -3");
  EXPECT_EQ(result->seconds, 1);
  EXPECT_EQ(result->defaultSeconds, getTrueTime("0 0"));
  EXPECT_FALSE(result->isCutOff);
  EXPECT_EQ(result->measurements.front().plan, "0 0");
}

TEST_F(Searches, PlansAreExpectedBeforeTheyAreTimed) {
  problem.candidates = {"0 0", "1 1", "2 -9"};
  std::vector<std::string> expected, first;
  // What is left of the last plans that were told of is told of again in the
  // same order, and more behind it, unless the leader has changed, or a round
  // of neighbours begins.
  bool isFree = true;
  size_t most = 0;
  problem.expect = [&](const std::vector<std::string> &plans) {
    if (!isFree && !expected.empty() && !plans.empty()) {
      size_t common = std::min(expected.size(), plans.size());
      EXPECT_EQ(llvm::ArrayRef(plans).take_front(common),
                llvm::ArrayRef(expected).take_front(common));
    }
    isFree = false;
    expected = plans;
    most = std::max(most, plans.size());
    if (first.empty())
      first = plans;
  };
  problem.report = [&](const std::string &, bool wins, const std::string &) {
    isFree |= wins;
  };
  auto time = problem.time;
  std::set<std::string> timed;
  problem.time = [&](const std::string &plan) {
    if (!timed.insert(plan).second || plan == "0 0") {
      EXPECT_FALSE(llvm::is_contained(expected, plan)) << plan;
      return time(plan);
    }
    EXPECT_FALSE(expected.empty()) << plan;
    if (!expected.empty()) {
      EXPECT_EQ(expected.front(), plan);
      expected.erase(expected.begin());
    }
    return time(plan);
  };
  auto result = search(problem, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->plan, "5 -3");
  EXPECT_EQ(first, (std::vector<std::string>{"1 1", "2 -9"}));
  EXPECT_TRUE(expected.empty());
  // Those of both fields.
  EXPECT_EQ(most, 8u);
  options.numExpected = 1;
  timed.clear();
  most = 0;
  isFree = true;
  ASSERT_TRUE(search(problem, options));
  EXPECT_EQ(most, 4u);
}

TEST_F(Searches, FieldsThatAnotherLeaderHasAreTriedInTheSameRound) {
  // The second field is one of plans whose first is not 0.
  auto getNeighbours = problem.getNeighbours;
  problem.getNeighbours = [&](const std::string &plan) {
    auto fields = getNeighbours(plan);
    fields.resize(read(plan).first == 0 ? 1 : 2);
    return fields;
  };
  options.numRounds = 1;
  bestX = 2;
  bestY = 1;
  EXPECT_EQ(search(problem, options)->plan, "2 1");
}

TEST_F(Searches, BeginWithWhatIsKnown) {
  problem.candidates = {"0 0", "1 1"};
  problem.known = {"4 -3"};
  options.numCandidates = options.numRounds = 0;
  auto result = search(problem, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->plan, "4 -3");
  ASSERT_EQ(result->measurements.size(), 2u);
  problem.known = {"9 9"};
  EXPECT_EQ(search(problem, options)->plan, "0 0");
}

TEST_F(Searches, FindItInNoiseToo) {
  noise = 0.05;
  for (unsigned seed = 0; seed < 10; ++seed) {
    random.seed(seed);
    auto result = search(problem, options);
    ASSERT_TRUE(result);
    EXPECT_LT(getTrueTime(result->plan), 1.15) << result->plan;
  }
}

TEST_F(Searches, NoiseMakesNoLoserWin) {
  // All are slower than the default, or as fast.
  bestX = bestY = 0;
  noise = 0.3;
  for (double each : {0.0, 0.01}) {
    slope = each;
    for (unsigned seed = 0; seed < 40; ++seed) {
      random.seed(seed);
      auto result = search(problem, options);
      ASSERT_TRUE(result);
      EXPECT_LT(getTrueTime(result->plan), 1.02) << result->plan;
      if (each == 0)
        EXPECT_EQ(result->plan, "0 0") << seed;
    }
  }
}

TEST_F(Searches, ComparisonsEndWhenTheyAreDecided) {
  problem.getNeighbours = [](const std::string &) {
    return std::vector<std::vector<std::string>>();
  };
  problem.candidates.push_back("100 0");
  ASSERT_TRUE(search(problem, options));
  EXPECT_EQ(numRuns, 2 + 2 * options.leastPairs);
  // Without noise, what differs by nothing is no faster, either.
  slope = 0;
  numRuns = 0;
  ASSERT_TRUE(search(problem, options));
  EXPECT_EQ(numRuns, 2 + 2 * options.leastPairs);
  // With noise, that takes longer.
  slope = 0;
  noise = 0.3;
  numRuns = 0;
  ASSERT_TRUE(search(problem, options));
  EXPECT_GT(numRuns, 2 + 4 * options.leastPairs);
  EXPECT_LE(numRuns, 2 + 2 * options.mostPairs);
}

TEST_F(Searches, RunsOfBothComeByTurns) {
  std::vector<std::string> runs;
  auto time = problem.time;
  problem.time = [&](const std::string &plan) {
    runs.push_back(plan);
    return time(plan);
  };
  problem.candidates.push_back("1 0");
  problem.getNeighbours = [](const std::string &) {
    return std::vector<std::vector<std::string>>();
  };
  ASSERT_TRUE(search(problem, options));
  ASSERT_GE(runs.size(), 6u);
  EXPECT_EQ(llvm::join(llvm::ArrayRef(runs).take_front(6), ","),
            "0 0,0 0,1 0,0 0,0 0,1 0");
}

TEST_F(Searches, WinnersAreNoSlowerInTheCaches) {
  // The optimum is, and so is all that lies below 0.
  problem.timeInCaches = [](const std::string &plan) {
    auto [x, y] = read(plan);
    return x == 5 || y < 0 ? 1.02 : 1.0;
  };
  bestY = 3;
  auto result = search(problem, options);
  ASSERT_TRUE(result);
  auto [x, y] = read(result->plan);
  EXPECT_NE(x, 5);
  EXPECT_GE(y, 0);
  // One of the leaders on the way there.
  EXPECT_EQ(result->seconds, getTrueTime(result->plan));
  EXPECT_LT(result->seconds, result->defaultSeconds);
  // What is slower by nothing that counts may win.
  problem.timeInCaches = [](const std::string &plan) {
    return plan == "0 0" ? 1.0 : 1.005;
  };
  EXPECT_EQ(search(problem, options)->plan, "5 3");
  problem.timeInCaches = [](const std::string &plan) {
    return plan == "0 0" ? 1.0 : 1.02;
  };
  EXPECT_EQ(search(problem, options)->plan, "0 0");
}

TEST_F(Searches, BudgetsAreKept) {
  options.seconds = 30;
  auto result = search(problem, options);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->isCutOff);
  // A comparison that has begun is ended, and the winner is checked.
  double longest = 4 * options.mostPairs * getTrueTime("0 0");
  EXPECT_LT(clock, options.seconds + longest);
  EXPECT_LE(getTrueTime(result->plan), getTrueTime("0 0"));
}

TEST_F(Searches, StopWithWhatWasFound) {
  problem.isStopped = [this] { return numRuns > 100; };
  auto result = search(problem, options);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->isCutOff);
  EXPECT_LT(getTrueTime(result->plan), getTrueTime("0 0"));
}

TEST_F(Searches, WhatCannotBeRunIsPassedOver) {
  refused = "2 0";
  auto result = search(problem, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->plan, "5 -3");
  EXPECT_EQ(result->numRefused, 1u);
  refused = "0 0";
  EXPECT_FALSE(search(problem, options));
}

TEST_F(Searches, OfManyCandidatesThoseWithTheLeastEstimatesAreRun) {
  for (int x = 1; x < 50; ++x)
    problem.candidates.push_back(write(-x, 0));
  problem.estimate = [](const std::string &plan) {
    return double(read(plan).first == -40 ? 0 : 1);
  };
  bestX = -40;
  bestY = 0;
  options.numCandidates = 3;
  problem.getNeighbours = [](const std::string &) {
    return std::vector<std::vector<std::string>>();
  };
  auto result = search(problem, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->plan, "-40 0");
  EXPECT_EQ(result->measurements.size(), 4u);
}

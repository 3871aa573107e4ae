fuzz                                                                    KEY     
             2             1             1             0
pra                        2             3             3             0
(8I5)           (8I5)                               
    1    2    2    4
    1    1    2

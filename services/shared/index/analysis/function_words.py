"""The words that shape a sentence or a question and say nothing of its subject, for each language.

A question is asked without them, and they tell which language a text is written in. Each is also met without its
apostrophe (``dont``), for that is how a question's words are compared. A word that may be a subject as well
(``may``, ``might``) is left out.
"""

from functools import cache

from services.shared.index.analysis.folding import fold, without_accents

# fmt: off
_WORDS = {
"en": """
a about am an and any anyone are as at be been being but by can could did do does doing done for from had has have
having he her hers him his how i if in into is it its let me mine my of off on or our ours please shall she should
so some tell than that the their theirs them then there these they this those to too up was we were what when where
which while who whom whose why will with would you your yours arent cant couldnt didnt doesnt dont hasnt havent hes
im isnt ive shes thats theres theyre wasnt werent whats whos wont wouldnt youre many much
""",
"de": """
ab aber als also am an auch auf aus bei beim bin bis bist bitte da dabei dadurch dafur damit dann daran darauf das
dass davon dazu dein deine dem den denn der deren des dessen die dies diese diesem diesen dieser dieses doch dort du
durch ein eine einem einen einer eines er es etwas fur gab gegen gibt hab habe haben hast hat hatte hatten ich ihm
ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeder jedes kann kein keine keinen konnen konnte
man mein meine mich mir mit nach nicht noch nur ob oder ohne sein seine seinem seinen seiner sich sie sind so soll
sollte sondern uber um und uns unser unsere unter vom von vor wann war waren warum was welche welchem welchen
welcher welches wem wen wenn wer werden wessen weshalb wie wieso wir wird wo wobei wodurch wofur woher wohin womit
woran worauf woraus worden wovon wozu wurde wurden zu zum zur zwischen viel viele vielen
""",
"fr": """
a ai ainsi alors apres as au aucun aucune aussi autre aux avait avaient avant avec avez avoir avons ayant c ca car
ce ceci cela celle celles celui ces cet cette ceux chez comme comment d dans de depuis des dont du elle elles en
entre es est et etaient etait etant ete etes etre eu eux fait faut furent fut il ils j je jusqu l la le lequel
laquelle lesquels lesquelles les leur leurs lors lui m ma mais me meme mes moi mon n ne ni nos notre nous on ont ou
par parce pas pendant peut plus pour pourquoi qu quand que quel quelle quelles quels quest qui quoi s sa sans se
selon sera ses si son sont sous sur t ta te tes toi ton tres tu un une vers vos votre vous y combien
""",
"es": """
a al algo ante antes aquel aquella como con cual cuales cuando cuanta cuantas cuanto cuantos de del desde donde
durante e el ella ellas ellos en entre era eran eres es esa esas ese eso esos esta estaba estaban estan estar estas
este esto estos fue fueron ha habia hace han hasta hay he la las le les lo los mas me mi mis mucho muy nada ni no
nos nosotros o os otra otro para pero por porque puede pueden que quien quienes se sea segun ser si sin sobre son su
sus tambien tan te tener tiene tienen todo todos tu tus u un una uno unos usted ustedes y ya yo cuya cuyo
""",
"it": """
a ad agli ai al alla alle allo anche avere aveva avevano c che chi ci cio coi col come con cosa cui d da dagli dai
dal dalla dalle dallo degli dei del dell della delle dello di dove e ed era erano essere fra fu furono gli ha hanno
ho i il in io l la le lei li lo loro lui ma mi mio molto ne negli nei nel nella nelle nello noi non nostra nostro o
ogni per perche piu poi possono puo qual quale quali quando quanta quante quanti quanto quel quella quelle quelli
quello questa queste questi questo se sei si sia solo sono sta stata stati stato su sua sue sugli sui sul sulla
sulle suo suoi tra tu un una uno vi voi
""",
"pt": """
a ao aos aquela aquele aquilo as ate com como cuja cujo da das de dela dele deles depois desde do dos e ela elas ele
eles em entre era eram essa esse esta estao estar estas estava este estes eu foi foram ha isso isto ja lhe mais mas
me mesmo meu minha muito na nao nas nem no nos nossa nosso num numa o onde os ou para pela pelas pelo pelos por
porque pode podem qual quais quando quanta quantas quanto quantos que quem se seja sem ser sera seu seus sao so
sobre sua suas tambem te tem tendo ter tinha um uma umas uns voce voces
""",
"ca": """
a al als amb aquell aquella aquest aquesta aquests com d dames de del dels des el ell ella ells els em en entre era
eren es esta estan et fins ha han havia hi i jo l la les li lo mes molt n ni no nosaltres o on pel pels per perque
pot que qual quals qualsevol quan quant quanta quantes quants qui s se segons seu seva seves si sense ser seus sobre
son sota tambe tant te un una unes uns va van vosaltres
""",
"nl": """
aan al als ben bij daar dan dat de deze die dit doen door dus een en er ge geen gemaakt had hadden heb hebben heeft
hem het hij hoe hoeveel hun ik in is ja je jij jouw jullie kan kon kunnen maar me meer met mij mijn moet moeten na
naar niet nog of om omdat onder ons onze ook op over te tegen toch toen tot u uit van veel voor waar waarin waarmee
waarom waarop waarvan wanneer waren was wat we wel welk welke werd werden wie wiens wij worden wordt zal ze zich zij
zijn zo zou zouden zonder
""",
"sv": """
alla att av bara blev bli blir da dar de dem den denna deras dess det detta dig din dina ditt du efter ej eller en
er era ett for fran ha hade han hans har hennes hon honom hur i icke inom inte jag ja kan kunde man med mellan men
mig min mina mitt mot mycket manga nagon nagot nagra nar ni nu och om oss pa sa samma sedan sig sin sina sitt ska
skall skulle som till under upp ut utan vad var vara varfor varit varje vart vem vems vi vid vilka vilken vilket ar
at over
""",
"da": """
ad af alle alt at blev blive bliver da de dem den denne der deres det dette dig din dine disse dit du efter eller en
end er et fik for fra ham han hans har havde have hende hendes her hun hvad hvem hvis hvilke hvilken hvilket hvor
hvordan hvorfor hvornar i ikke ind jeg jer jo kan kunne man mange med meget mellem men mig min mine mit mod nar
nogen noget nogle nu og ogsa om op os over pa sa samt sig sin sine sit skal skulle som til ud under var vi vil ville
vor vaere vaeret
""",
"no": """
a alle at av bare ble blei bli blir da de deg dem den denne der dere deres det dette di din disse ditt du eller en
enn er et ett etter for fordi fra ha hadde han hans har henne hennes her hun hva hvem hver hvilke hvilken hvilket
hvis hvor hvordan hvorfor i ikke inn ja jeg kan kunne man mange med meg mellom men mer mi min mitt mot mye na nar
noe noen og ogsa om opp oss over pa sa seg selv sin sine sitt skal skulle slik som til ut under var vare vart ved vi
vil ville vaere vaert
""",
"fi": """
ei eivat emme en enemman et etta han hanella hanelle hanen hanet he heidan ja jo johon joka joiden joissa joita
jolla jonka jos jossa josta jota jotka kanssa kauan ketka kuin kuinka kuka kun koska keneen kenelle kenen mika
mikali miksi mihin milla millainen millaisia milloin minka mina minun missa mista mita miten mitka monta mukaan
mutta myos nain ne nyt niiden niin noin olen oli olisi olivat olla ollut on ovat sen se siella sina sita tai tama
taman tassa tata te tuo vai vaan voi voidaan voiko onko
""",
"pl": """
a aby ale bardzo bez bo by byc byl byla bylo byly czego czy czyj czyja czym co dla do gdy gdzie go i ich ile ilu im
jak jaka jaki jakich jakie jakim jako jakiego ja je jego jej jest jestem jesli juz kiedy kim kogo komu kto ktora
ktore ktorego ktorej ktorych ktory ktorym ktorzy lub ma maja mi mnie moj moja moze mozna my na nad nie nich niego
niej nim o od on ona one oni oraz po pod przed przez przy sa si sie skad swoj swoja swoje ta tak takze tam te tego
tej ten to tu ty tych tylko tym u w we wiec z za ze zostal zostala zostalo zostaly
""",
"cs": """
a aby aj ale ani ano asi az bez by byl byla byli bylo byt ci co coz do ho i ja jak jaka jake jaky jakych jako je
jeho jej jeji jejich jen jenz jeste jestli ji jich jim jsem jsi jsme jsou kam kde kdo kdy kdyz ke komu ktera ktere
kterou ktery kteri kolik ma mezi mi mit mne muze my na nad nam nas ne nebo nebyl neni nez nic o od on ona oni po pod
podle pokud pro proc proto protoze pred pri s se si sve svuj ta tak take tato te ten tento to tohle tomto tu ty u uz
v ve vsak vy z za ze
""",
"ro": """
a ai al ale am ar are as asa au avea avut ca care cat cata cate cati ce cel celor cu cand cine cui cum da dar de
deci despre din dintre doar dupa e ea ei el ele era erau este eu fi fie fost i iar ii il in intre isi la lor lui mai
meu mi ne noi nu o ori pe pentru prin sa sai sale sau se si sunt su te toate tu un una unde unei unor unui va vor
""",
"hu": """
a abban ahhoz ahogy aki akik akkor ala alatt amely amelyek amelyet ami amit arra az azok azon azt be csak de e egy
egyik el ellen elott en es ez ezek ezen ezert ezt fel fele ha hany hanyan hogy hogyan honnan hol hova i igy ill is
itt ki kik kinek kit kozott le legyen lehet lesz lett ma mar meg mely melyik melyek mennyi mert mi miatt miert mik
mikor milyen mint mit nagyon nem nincs o ok ot s sem szerint tobb ugy utan vagy van vannak volt voltak voltam
""",
"tr": """
acaba ama ancak az bana bazi belki ben benim bile bir biri biz bu bunu bunun buna cok cunku da daha de defa degil
diye eger en gibi hangi hangisi hem hep her hic icin ile ise kac kadar kendi ki kim kimin kimdir mi mu mı mudur
midir nasil nasıl ne neden nedir nerede nereden nereye neresi niye o olan olarak oldu oldugu olup onlar onu onun sen
siz sonra su ve veya ya yani
""",
"id": """
ada adalah agar akan aku anda antara apa apakah apabila atau bagaimana bagi bahwa banyak berapa bisa dalam dan dapat
dari dengan di dia hanya ia ini itu jika juga kami kamu kapan karena ke kenapa kepada ketika kita lebih maka mana
mengapa mereka merupakan namun oleh pada para pun saat saja sangat saya sebagai sebuah seorang seperti serta siapa
siapakah sudah suatu tetapi tidak untuk yang yaitu
""",
"ru": """
а без бы был была были было быть в вам вас весь во вот все всех вы где да для до его ее если есть еще же за и из или
им их к как какая какие какими каких какого какое какой каком какую ко когда кого кому которая которого которой
которые который которых кто куда ли либо мне может можно мой мы на над надо нас наш не него нее нет ни них но о об
он она они оно от откуда отчего по под почему при с сколько со та так также там те тем то того той только том тот ты
у уже хотя чего чей чем что чтобы чья эта эти этих это этого этой этом этот я зачем
""",
"uk": """
а аби або але б без би був була були було бути в вам вас ви від він вона вони воно все всі де для до є ж за з зі і й
із їй її їм їх його коли кого кому котрий куди ли лише має мене мені ми може мій на над нас наш не нею неї ні них но
о один перед під по при про с скільки та так також там те тим ти то того тої тому той у уже хто цей це ці чи чий чиї
чого чому що щоб яка яке який яких якій якого якою якої які як я яким якими
""",
"sr": """
а али ако би биле били било бити био више где да до за и из или им их ја је јер јесу још ка као када како какав која
који којем које којег којој којих ко колико ли ми може му на над након не него није но о од он она они оно па по под
после при са се си само сам сте смо су та тај тако те ти то тог том тренутак у уз чега чему чији што ту ће шта зашто
""",
"el": """
α αλλα αν απο αυτα αυτες αυτη αυτο αυτοι αυτος αυτου για δεν δυο εαν εγω ειναι εκει εκεινη εκεινο εκεινος ενα ενας
ενος εχει εχουν η ηταν θα και κατα κι μας με μετα μεταξυ μη μια μιας μου να ο οι ολα ομως οποια οποιο οποιος οπου
οπως οσο οταν οτι ου που ποια ποιες ποιο ποιοι ποιον ποιος ποιου ποσα ποσες ποσο ποσοι ποτε προς πως σαν σας σε σου
στα στη στην στις στο στον στους συ τα τι τη την της τις το τον τοσο του τους των ως ωστε γιατι ειτε
""",
"ar": """
اب اذا اذ اكثر الا الان التي الذي الذين اللذان اللتان الى ام اما ان انا انت انه انها او اول اي ايه اين ب بعد بعض بل
بها به بين تلك تم ثم جدا حتي حول حين حيث خلال دون ذلك سوف عدد عن عند عندما علي علام عليه عليها غير ف فقد في فيم فيما
فيه فيها قبل قد ك كان كانت كانوا كل كم كما كيف ل لا لان لدي لقد لكن لم لماذا لن له لها لهم ليس ليست م ما ماذا ماهو
ماهي مثل مع معه من منذ منه منها متي مما نحن نحو هذا هذه هل هم هما هنا هناك هو هولاء هي و وقد وكان وهو وهي يكون يتم
اية بماذا لمن ممن
""",
"fa": """
از است اگر اما ان اند انها او ايا اين با باشد بايد بر برای براي بسيار بود بودند به بين تا تر توسط چرا چقدر چگونه چند
چه چيست خود در دارد دارند درباره ديگر را روي سپس شد شده شود كجا كجاست كدام كرد كرده كسي كنند كند كه كي كيست ما مي
نيز نيست ها هاي هر هم همه همين هيچ و ولي يا يك ميان تو شما من
""",
"he": """
אבל או אולי אחרי איזה איזו אילו אין איפה איך אל אלה אם אני אנחנו אף אשר את אתה אתם בו בין גם דרך האם הוא היא היה היו
היתה הייתה הם הן זאת זה זו יותר יש כאשר כי כל כמה כמו כן לא לאן לה להם לו לי למה לפי מאוד מאין מאשר מדוע מה מהו מהי
מהם מי מיהו מיהי מן מתי עד על עם של שלה שלהם שלו שלי שם תחת
""",
"hi": """
अपना अपनी अपने अब आदि आप इन इनके इस इसका इसकी इसके इसमें इसे उन उनका उनकी उनके उन्हें उस उसका उसकी उसके उसे एक एवं
और कब कर करता करते करना करने कहाँ कहां का कि किस किसका किसकी किसके किसने किसी किसे की कितना कितनी कितने कुछ के कैसे
कैसा को कोई कौन कौनसा क्या क्यों गई गए गया जब जहाँ जा जाता जाती जाते जिस जिसे जो तक तथा तब तो था थी थे द्वारा न नहीं
ने पर फिर बहुत भी मुझे मेरा मैं में यदि यह यहाँ या ये रहा रही रहे लिए वह वहाँ वाला वाली वाले वे वो सकता सकते सभी साथ
से है हैं हो होता होती होते हुआ हुई हुए हूँ
""",
}
# fmt: on

LISTED = tuple(_WORDS)
"""The languages that have a list."""


@cache
def function_words(language: str) -> frozenset[str]:
    """The function words of a language; none of one without a list."""
    return frozenset(without_accents(fold(word)) for word in _WORDS.get(language, "").split())
